"""`manage.py notify` as people run it, and a second process that writes to its database."""

import subprocess
import sys
import threading
from pathlib import Path

from tests.conftest import PROJECT, clean_environment, wait_until
from tests.serving import Scribe


def environment(database: Path, **extra: str) -> dict[str, str]:
    return clean_environment(
        MCP_HANDOFF_DB=str(database),
        HANDOFF_DATA_DIR=str(database.parent),
        HANDOFF_LANGUAGE="en",
        HANDOFF_NOTIFY="apart",
        HANDOFF_NOTIFY_DELAY_SECONDS="0",
        HANDOFF_NOTIFY_RETRY_SECONDS="1",
        HANDOFF_LEASE_SECONDS="4",
        **extra,
    )


def scribe_for(database: Path) -> Scribe:
    return Scribe(environment(database))


class NotifyProcess:
    """One worker apart, its output as it comes."""

    def __init__(self, database: Path, **extra: str) -> None:
        self.output = ""
        self.process = subprocess.Popen(
            [sys.executable, PROJECT / "manage.py", "notify"],
            env=environment(database, **extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.output += line

    def ready(self) -> "NotifyProcess":
        wait_until(lambda: self.output, seconds=30, what="notify says that it runs")
        return self

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)
        self.reader.join(5)

    def stop(self) -> str:
        """Ask it to end; return all that it said."""
        self.process.terminate()
        try:
            self.process.wait(10)
        finally:
            self.kill()
        return self.output
