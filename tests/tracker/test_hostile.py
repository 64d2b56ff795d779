"""Whatever is printed: no exception, an answer that is valid JSON, also over restarts.

Longer and with times: `python -m bench.speed.fuzz_tracker`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.model import Progress
from schedmate.model.wire import dumps, loads
from schedmate.testing.hostile_lines import hostile_line
from schedmate.tracker import JobTracker
from schedmate.tracker.formats import FORMATS
from schedmate.tracker.tailing.lines import MAX_LINE, clean

SAMPLES = [sample.line for kind in FORMATS for sample in kind.samples]
SEEDS = st.integers(0, 2**32)
CLOCKS = st.sampled_from([0.0, 1e9, 1e9 + 5, 4e9])
ENDS = st.sampled_from([b"\n", b"\r", b"\r\n", b"\b", b""])


@settings(max_examples=300, deadline=None)
@given(SEEDS)
def test_no_format_raises_on_any_line(seed: int):
    text = clean(hostile_line(Random(seed), SAMPLES)[:MAX_LINE]).strip()
    for kind in FORMATS:
        assert repr(kind.read(text)) == repr(kind.read(text))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SEEDS, ENDS, CLOCKS, st.booleans(), st.booleans()), max_size=8))
def test_a_log_of_hostile_lines_is_tracked_over_restarts(
    looks: list[tuple[int, bytes, float, bool, bool]],
):
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "train.log"
        tracker = JobTracker([log], started_at=1e9)
        for seed, end, clock, restart, anew in looks:
            chance = Random(seed)
            with log.open("wb" if anew else "ab") as file:
                file.writelines(hostile_line(chance, SAMPLES)[:3000] + end for _ in range(5))
            if restart:
                tracker = JobTracker([log], started_at=1e9, state=tracker.state())
            _check(tracker.poll(clock))


def _check(seen: Progress) -> None:
    assert json.loads(json.dumps(json.loads(dumps(seen)), allow_nan=False))
    assert loads(Progress, dumps(seen)) == seen
    assert seen.fraction is None or 0 <= seen.fraction <= 1
    assert 0 <= seen.confidence <= 1
