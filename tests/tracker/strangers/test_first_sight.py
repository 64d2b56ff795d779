"""What the tracker answers about logs of other people's making when it sees a part of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest

from bench.accuracy import first_sight_score
from bench.accuracy.first_sight_score import CUTS, Look, look_at_end
from bench.corpora.home_made_runs import first, fourth, second, seventh, third
from bench.corpora.home_made_runs.run import Run

RUNS = first.RUNS + second.RUNS + third.RUNS + fourth.RUNS + seventh.RUNS
NOT_UNDERSTOOD = frozenset({"many_columns", "minutes_of_audio", "thousands", "tokens_budget"})
"""A table without signs between its columns, and its total in the last of them; times of a
recording in front of lines, as the time of day stands there; totals of something that the lines
count under another name."""


LONG = {"wide_json"}
BY_NAME = {run.name: run for run in RUNS}


def cases(runs: Iterable[Run]) -> list[object]:
    slow = {True: [pytest.mark.slow], False: []}
    return [pytest.param(run, id=run.name, marks=slow[run.name in LONG]) for run in runs]


def look(run: Run, share: float) -> Look:
    return _look(run.name, share)


@cache
def _look(name: str, share: float) -> Look:
    """Several tests ask the same of a run, which is tracked once."""
    return first_sight_score.look(BY_NAME[name], share)


@pytest.mark.parametrize("run", cases([run for run in RUNS if run.name not in NOT_UNDERSTOOD]))
def test_how_far_it_is(run: Run):
    assert [str(seen) for share in CUTS if not (seen := look(run, share)).right] == []


@pytest.mark.parametrize("run", cases(RUNS))
def test_it_is_not_over_while_it_runs(run: Run):
    assert [str(seen) for share in CUTS if (seen := look(run, share)).over_too_early] == []


@pytest.mark.parametrize("run", cases(RUNS))
def test_a_wrong_share_is_never_believed(run: Run):
    assert [str(seen) for share in CUTS if (seen := look(run, share)).confidently_wrong] == []


NOT_TIMED = NOT_UNDERSTOOD | {"keras_like_home", "milliseconds_column"}
"""Speeds in lines that are not read once epochs are counted, and a time without a word."""
TIMED = [run for run in RUNS if run.timed and run.training and run.name not in NOT_TIMED]


@pytest.mark.parametrize("run", cases(TIMED))
def test_it_ends_at_some_time(run: Run):
    assert [str(seen) for share in CUTS if not (seen := look(run, share)).estimated] == []


@pytest.mark.parametrize("run", cases([run for run in RUNS if run.last_words]))
def test_its_last_words_are_its_end(run: Run):
    assert look_at_end(run).phase == "finished"


@pytest.mark.parametrize("run", cases([run for run in RUNS if not run.training]))
def test_what_is_no_training_is_not_called_one(run: Run):
    assert [str(seen) for share in CUTS if (seen := look(run, share)).phase_wrong] == []
