"""Nothing but protocol goes to standard output, whatever is printed, logged or warned."""

import json
import textwrap

from bench.agent import RUNMCP

NOISY = textwrap.dedent(
    """
    import os, subprocess, sys, warnings
    print("settings print")
    os.write(1, b"settings write to fd 1\\n")
    subprocess.run(["echo", "settings start a child"])
    warnings.warn("settings warn")
    from handoff_site.settings import *
    DEBUG = True
    LOGGING["loggers"]["django.db.backends"] = {"handlers": ["stderr"], "level": "DEBUG"}
    LOGGING["handlers"]["stdout"] = {"class": "logging.StreamHandler", "stream": "ext://sys.stdout"}
    LOGGING["root"]["handlers"].append("stdout")
    """
)


def test_every_line_of_output_is_json_rpc(start, tmp_path):
    (tmp_path / "noisy_settings.py").write_text(NOISY)
    log = tmp_path / "stderr"
    with log.open("wb") as stderr:
        agent = start(
            command=(RUNMCP[0], "-W", "always", *RUNMCP[1:]),
            variables={"DJANGO_SETTINGS_MODULE": "noisy_settings", "PYTHONPATH": str(tmp_path)},
            stderr=stderr,
        )
        agent.initialize()
        agent.call("mf_ask", to="app", subject="Q", body="b")
        agent.call("mf_nothing")
        agent.process.stdin.close()
        left = agent.process.stdout.read()
    assert not agent.notifications
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in left.splitlines())
    said = log.read_text()
    for noise in ("settings print", "fd 1", "start a child", "settings warn", "INSERT INTO"):
        assert noise in said


def test_a_process_without_stderr_serves_all_the_same(start):
    agent = start(command=("/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *RUNMCP))
    assert not agent.initialize().call("mf_inbox").is_error
    assert agent.close() == 0
