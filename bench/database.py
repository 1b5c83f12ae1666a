"""A fresh database for each measure."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.agent import OWN_VARIABLES, PROJECT


@contextmanager
def fresh_database() -> Iterator[Path]:
    """Yield a SQLite file with the schema and the first rows."""
    with TemporaryDirectory(prefix="handoff-bench-") as folder:
        path = Path(folder, "handoff.sqlite")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(OWN_VARIABLES)}
        subprocess.run(
            [sys.executable, PROJECT / "manage.py", "migrate", "--verbosity=0"],
            env=inherited | {"MCP_HANDOFF_DB": str(path), "HANDOFF_DATA_DIR": folder},
            check=True,
        )
        yield path
