"""`python -m bench`: one table of every measure, whatever becomes of one of them."""

import json
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench.report import Figure, skipped


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run measures and return the status, the table and the figures kept."""
    (tmp_path / "bench").mkdir()
    monkeypatch.setattr(bench, "PROJECT", tmp_path)

    def run(**measures):
        monkeypatch.setattr(bench, "MEASURES", measures)
        status = bench.main([])
        (kept,) = Path(tmp_path, "bench", "results").iterdir()
        return status, capsys.readouterr().out, json.loads(kept.read_text())

    return run


def kept_limit():
    return [Figure("delay", 5.0, "ms", limit=10)]


def test_a_measure_that_crashes_says_so_and_costs_no_other_its_figures(run):
    def crashing():
        raise RuntimeError("the server went away")

    status, table, kept = run(crashing=crashing, other=kept_limit)

    assert status == 1
    assert "FAILED: RuntimeError: the server went away" in table
    assert [figure["holds"] for figure in kept] == [None, True]


def test_a_part_that_the_machine_lacks_is_skipped_and_fails_nothing(run):
    def lacking():
        pytest.skip("needs PostgreSQL's server")

    status, table, _kept = run(lacking=lacking, other=lambda: [skipped("rival", "needs npm")])

    assert status == 0
    assert "skipped: needs PostgreSQL's server" in table
    assert "skipped: needs npm" in table


@pytest.mark.parametrize(
    ("figure", "status"),
    [
        (Figure("delay", 10.0, "ms", limit=10), 0),
        (Figure("delay", 10.1, "ms", limit=10), 1),
        (Figure("rate", 9.9, "/s", limit=10, at_least=True), 1),
        (Figure("rate", 10.0, "/s", limit=10, at_least=True), 0),
        (Figure("rate", 1.0, "/s"), 0),
    ],
)
def test_a_missed_limit_fails_the_run(run, figure, status):
    assert run(one=lambda: [figure])[0] == status
