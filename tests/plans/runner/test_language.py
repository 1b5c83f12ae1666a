"""French is what people and agents read unless they choose otherwise."""

import pytest

from plans.rules import ShellRule
from plans.runner.shell import run_shell


@pytest.mark.parametrize(
    ("cmd", "error"),
    [
        ("exit 3", "code de sortie 3"),
        ("kill -9 $$", "commande tuée par le signal 9 (SIGKILL)"),
        ("sleep 60", "limite de temps de 1 s atteinte (timeout)"),
    ],
)
async def test_ending_is_told_in_french(tmp_path, cmd, error):
    assert (await run_shell(ShellRule(cmd=cmd, timeout=1), tmp_path)).error == error
