"""However much a command prints, its last 8 KB are kept, as text anyone can store and read."""

import psutil

from tests.plans.runner.running import shell


def resident_megabytes() -> float:
    return psutil.Process().memory_info().rss / 1e6


async def test_end_of_a_long_output_is_kept_and_marked(tmp_path):
    outcome = await shell("seq 100000", tmp_path)
    lines = outcome.evidence.splitlines()
    assert lines[1] == "… (only the end; 588,895 bytes in all)"
    assert lines[-1] == "100000"
    assert 8000 < len(outcome.evidence) < 8400


async def test_short_output_is_kept_whole_and_unmarked(tmp_path):
    outcome = await shell("head -c 8192 /dev/zero | tr '\\0' x", tmp_path)
    assert outcome.evidence == "exit status 0\n" + 8192 * "x"


async def test_400_megabytes_cost_no_memory_and_little_time(tmp_path):
    before = resident_megabytes()
    outcome = await shell("head -c 400000000 /dev/zero", tmp_path, timeout=60)
    assert outcome.passed
    assert resident_megabytes() - before < 50
    assert "400,000,000" in outcome.evidence
    assert len(outcome.evidence.encode()) < 8400


async def test_bytes_that_are_no_text_are_replaced(tmp_path):
    outcome = await shell(r"printf 'a\377b\303\251\0c\r\n\033[31mred\033[0m\n'", tmp_path)
    assert outcome.evidence == "exit status 0\na\N{REPLACEMENT CHARACTER}bé␀c\nred"


async def test_random_bytes_are_capped_and_the_status_decides(tmp_path):
    outcome = await shell("head -c 5000000 /dev/urandom; exit 7", tmp_path)
    assert outcome.error.startswith("exit status 7")
    assert len(outcome.evidence.encode()) < 8400
    assert "\0" not in outcome.evidence
    assert outcome.evidence.encode().decode() == outcome.evidence


async def test_cut_never_splits_a_character(tmp_path):
    outcome = await shell("yes é | head -n 5000 | tr -d '\\n'", tmp_path)
    assert "\N{REPLACEMENT CHARACTER}" not in outcome.evidence
    assert outcome.evidence.endswith("ééé")
