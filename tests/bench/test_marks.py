"""Marks of the main figure are the share of log variance that is explained out of sample."""

from __future__ import annotations

import random
import re

import pytest

from bench.proof import marks
from bench.proof.drawing import Line, Mark, figure
from bench.proof.marks import Source, mark_of, real_marks, shares
from schedmate.model import Finding, Job, JobState, PastRun, Request, Workload

pytestmark = pytest.mark.slow

HOUR = 3600.0


def site(*, decided_by_code):
    """A hundred runs, one after another; epochs decide how long each takes, or nothing does."""
    rng = random.Random(3)
    found = []
    for number in range(100):
        epochs = rng.choice((1, 4, 16, 64, 256))
        came = number * 100 * HOUR
        ran = 60.0 * (epochs if decided_by_code else rng.choice((1, 4, 16, 64, 256)))
        job = Job(
            id=str(number),
            name=f"job{number}",
            user=f"u{number % 7}",
            state=JobState.COMPLETED,
            workdir="/",
            request=Request(gpus=1),
            submit_time=came,
            start_time=came,
            end_time=came + ran * rng.lognormvariate(0.0, 0.1),
        )
        workload = Workload(
            model=Finding(value="resnet50", source="code"),
            epochs=Finding(value=epochs, source="code"),
        )
        found.append(PastRun(job=job, workload=workload))
    return Source(label="made up", runs=lambda: found)


def test_code_that_decides_explains_most_and_a_name_nothing():
    found = shares(site(decided_by_code=True))

    assert set(found) == {"request", "user and name", "code", "all"}
    assert found["code"].explained > 0.8
    assert found["request"].explained < 0.2
    assert found["user and name"].explained < 0.2
    assert found["code"].low < found["code"].explained < found["code"].high


def test_code_that_decides_nothing_explains_nothing():
    assert shares(site(decided_by_code=False), ["code"])["code"].explained < 0.1


def test_marks_are_measured_once_for_a_revision(monkeypatch, tmp_path):
    monkeypatch.setattr(marks, "KEPT", tmp_path)
    sources = {"made-up": site(decided_by_code=True)}
    first = real_marks(sources)
    monkeypatch.setattr(marks, "shares", lambda *_: pytest.fail("measured twice"))

    assert real_marks(sources) == first
    assert [mark.name for mark in first] == ["made up", "default"]
    assert first[0] == mark_of(
        sources["made-up"],
        {"code": marks.Share(explained=first[0].at, low=first[0].low, high=first[0].high, runs=99)},
    )


def test_marks_stand_in_the_figure_with_their_share_and_apart():
    line = Line("semantic", (0.0, 1.0), (1.0, 1.2), ((0.9, 1.1), (1.1, 1.3)))
    drawn = figure({"easy": [line]}, [Mark("one", 0.7, 0.8, 0.9), Mark("two", 0.8, 0.82, 0.84)])

    labels = re.findall(r'y="([\d.]+)"[^>]*>(one 0\.80|two 0\.82)<', drawn)
    assert {name for _, name in labels} == {"one 0.80", "two 0.82"}
    assert len({height for height, _ in labels}) == 2
