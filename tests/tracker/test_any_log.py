"""Whatever is written in whatever order: an answer, and one that can be true."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.model import Finding, Progress, Workload
from schedmate.model.wire import dumps, loads
from schedmate.tracker.facts import Facts
from schedmate.tracker.forecasting.rhythm import Rhythm
from schedmate.tracker.formats import FORMATS
from schedmate.tracker.report import progress_of
from schedmate.tracker.scan import LogScan

SAMPLES = [sample.line[:2000] for kind in FORMATS for sample in kind.samples]
COUNTS = st.builds(
    "{} {}/{} elapsed {}s".format,
    st.sampled_from(["step", "epoch", "iter"]),
    st.integers(0, 12),
    st.sampled_from([5, 12, 10**14]),
    st.integers(0, 1000),
)
BARS = st.builds(
    "{}: 50%|█ | {}/{} [00:{:02}<00:09, {}]".format,
    st.sampled_from(["Epoch 0/2", "Epoch 1/2", "Epoch 2", "train", "val", "Epoch"]),
    st.integers(0, 9),
    st.sampled_from([9, 10]),
    st.integers(0, 59),
    st.sampled_from(["?it/s", "3.1it/s", "0.00it/s", "9.9s/it"]),
)
LINES = st.lists(
    st.one_of(st.sampled_from(SAMPLES), COUNTS, BARS, st.text(max_size=40)), max_size=40
)
CLOCKS = st.one_of(st.none(), st.floats(0, 1e10))
WORKLOADS = st.one_of(
    st.none(),
    st.builds(
        lambda epochs, steps: Workload(
            epochs=Finding(value=epochs, source="cli"), max_steps=Finding(value=steps, source="cli")
        ),
        st.floats(0, 1e6),
        st.integers(0, 100),
    ),
)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.tuples(LINES, CLOCKS), max_size=6), WORKLOADS, st.floats(0, 1e10))
def test_the_answer_is_always_possible(
    looks: list[tuple[list[str], float | None]], workload: Workload | None, now: float
):
    scan, rhythm = LogScan(), Rhythm(floor_s=10, started_at=0)
    for lines, clock in looks:
        scan.feed([line.encode("utf-8", "replace") for line in lines], clock)
        rhythm.observe(clock or 0, wrote=bool(lines))
    assert loads(LogScan, dumps(scan)) == scan
    for facts in (
        Facts(logs=("a",), scans=[scan], workload=workload),
        Facts(logs=("a",), scans=[scan], workload=workload, now=now, started_at=5, rhythm=rhythm),
    ):
        _check(progress_of(facts))


def _check(seen: Progress) -> None:
    json.loads(json.dumps(json.loads(dumps(seen)), allow_nan=False))
    assert loads(Progress, dumps(seen)) == seen
    assert seen.fraction is None or 0 <= seen.fraction <= 1
    assert seen.rate_per_s is None or seen.rate_per_s > 0
    if seen.total is not None:
        assert seen.current is not None
        assert 0 <= seen.current <= seen.total
        assert seen.ends_by != "unknown" or seen.phase in ("finished", "failed")
