"""What the tracker answers about recorded runs of real frameworks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from bench.accuracy.recorded_logs import Look, framework_cuts, looks
from bench.corpora.framework_runs.record import began, packed
from bench.corpora.framework_runs.recording import Recording, recordings
from schedmate.tracker import JobTracker

RUNS = recordings()
NOT_UNDERSTOOD = {
    "darts_fit": "its only bar, of the last epoch, counts epochs from zero to their last",
    "gensim_lda": "the first pass looks like the run until the second begins",
    "monai_run": "the machine slowed down during the recording",
    "numpyro_mcmc": "one redraw before and one after the compiled loop",
    "pyro_svi": "its first tenth prints nothing",
    "sklearn_grid": "lines without a number, which would have to be counted",
    "umap_fit": "a bar and a count of the same epochs",
}


@cache
def running(name: str) -> list[Look]:
    """What is answered at each of its cuts while it runs."""
    run = next(run for run in RUNS if run.name == name)
    return looks([cut for cut in framework_cuts(run) if not cut.part.state.ended])


def named(run: Recording) -> str:
    return run.name


def test_there_are_many_and_they_are_small():
    assert len(RUNS) >= 25
    assert all(run.exit_code == 0 for run in RUNS)


@pytest.mark.parametrize("run", [run for run in RUNS if run.name not in NOT_UNDERSTOOD], ids=named)
def test_how_far_it_is(run: Recording):
    assert [str(seen) for seen in running(run.name) if not seen.right] == []


@pytest.mark.parametrize("run", [run for run in RUNS if run.name != "darts_fit"], ids=named)
def test_a_wrong_share_is_never_believed(run: Recording):
    assert [str(seen) for seen in running(run.name) if seen.confidently_wrong] == []


@pytest.mark.parametrize("run", RUNS, ids=named)
def test_it_is_not_over_while_its_process_writes(run: Recording):
    assert [str(seen) for seen in running(run.name) if seen.over] == []


@pytest.mark.parametrize("run", RUNS, ids=named)
def test_its_end_is_known_from_its_process(run: Recording, tmp_path: Path):
    log = tmp_path / "run.log"
    log.write_bytes(run.text)
    tracker = JobTracker([log])
    assert tracker.poll(1e9, ended="finished").phase == "finished"


def test_a_recording_knows_when_its_work_began():
    assert began("importing\nepoch 1\n", [(1.0, 10), (4.0, 18)], "epoch 1") == 4.0
    assert len(packed({"text": "x" * 10_000})) < 300
