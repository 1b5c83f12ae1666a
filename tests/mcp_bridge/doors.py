"""What people do at other doors, in a process of their own."""

import subprocess
import sys

from tests.conftest import PROJECT, clean_environment


def in_another_process(database, *lines):
    """Run lines that call the services, as any other door would."""
    code = "\n".join(
        (
            "import django; django.setup()",
            "from coordination.actors import Actor",
            "from plans.services import plans, steps, tasks, transitions",
            "human = Actor.human('ada')",
            *lines,
        )
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env=clean_environment(
            MCP_HANDOFF_DB=str(database),
            HANDOFF_ROLE="agent",
            DJANGO_SETTINGS_MODULE="handoff_site.settings",
        ),
        cwd=PROJECT,
        check=True,
        timeout=60,
    )
