"""When a run has just saved: by a line of its log, or by files that are whole and still."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedmate.files import INVOKER
from schedmate.model import Checkpoint, JobState, Workload
from schedmate.model.workload import Finding
from schedmate.service.daemon.checkpoint_files import newest_below, saved_at
from schedmate.service.daemon.checkpoint_watch import CheckpointWatch
from schedmate.testing.builders import a_job, a_progress

NOW = 10_000.0
FOLDER = Workload(checkpoint_dir=Finding(value="out", source="code"))


@pytest.fixture
def job(tmp_path):
    (tmp_path / "out").mkdir()
    return a_job(state=JobState.RUNNING, start_time=NOW - 1000, workdir=str(tmp_path))


@pytest.fixture
def watch():
    return CheckpointWatch(lambda _: True)


def write(job, name, size=10, at=NOW):
    path = Path(job.workdir, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (at, at))


def look(watch, job, now, *, workload=FOLDER, **parts):
    watch.begin_poll()
    return watch.look(job, workload, a_progress(**parts), now)


def stated(**parts):
    return Checkpoint(**{"saved_at": NOW, **parts})


def test_a_line_that_says_saved_is_enough(watch, job):
    seen = look(watch, job, NOW + 5, workload=None, checkpoint=stated(step=40))
    assert (seen.saved_at, seen.step, seen.attempt) == (NOW, 40, 0)
    assert look(watch, job, NOW + 15, workload=None, checkpoint=stated(step=40)) is None, "once"
    again = look(watch, job, NOW + 25, workload=None, checkpoint=stated(step=60, saved_at=NOW + 20))
    assert (again.saved_at, again.step) == (NOW + 20, 60)


def test_of_a_line_that_was_there_before_nobody_knows_when(watch, job):
    assert (
        look(watch, job, NOW + 5, workload=None, checkpoint=stated(step=40, saved_at=None)) is None
    )


def test_the_file_that_a_line_names_says_when(watch, job):
    write(job, "out/last.pt", at=NOW - 600)
    seen = look(watch, job, NOW + 5, checkpoint=stated(path="out/last.pt", saved_at=None))
    assert seen.saved_at == NOW - 600


def test_not_while_it_is_saving(watch, job):
    going_on = stated(path="out/last.pt", step=40, saving=True)
    write(job, "out/last.pt")
    assert look(watch, job, NOW, phase="checkpointing", checkpoint=going_on) is None
    assert look(watch, job, NOW + 5, checkpoint=going_on) is None, "seen once"
    write(job, "out/last.pt", size=20, at=NOW + 9)
    assert look(watch, job, NOW + 10, checkpoint=going_on) is None, "it grows"
    seen = look(watch, job, NOW + 20, checkpoint=going_on)
    assert (seen.saved_at, seen.step) == (NOW + 9, 40)


def test_a_line_that_says_saving_without_a_file_proves_nothing(watch, job):
    for seconds in range(0, 60, 10):
        assert look(watch, job, NOW + seconds, checkpoint=stated(step=40, saving=True)) is None


def test_files_of_a_run_that_says_nothing_about_them(watch, job):
    assert look(watch, job, NOW, current=35.0) is None
    write(job, "out/step=40.ckpt", at=NOW + 12)
    assert look(watch, job, NOW + 15, current=45.0) is None
    seen = look(watch, job, NOW + 25, current=55.0)
    assert (seen.saved_at, seen.step) == (NOW + 12, 40)
    assert look(watch, job, NOW + 40, current=65.0) is None
    write(job, "out/last.ckpt", at=NOW + 42)
    assert look(watch, job, NOW + 50, current=70.0) is None
    assert look(watch, job, NOW + 60, current=80.0).step == 65, "at least what was counted before"


def test_a_directory_is_complete_when_all_of_it_is(watch, job):
    write(job, "out/checkpoint-40/model.safetensors", at=NOW + 1)
    write(job, "out/checkpoint-40/optimizer.pt.tmp", at=NOW + 2)
    for seconds in (5, 10, 20):
        assert look(watch, job, NOW + seconds) is None
    draft = Path(job.workdir, "out/checkpoint-40/optimizer.pt.tmp")
    draft.rename(draft.with_suffix(""))
    assert look(watch, job, NOW + 30) is None
    assert look(watch, job, NOW + 40).step == 40


def test_what_an_earlier_run_saved_is_not_this_ones(watch, job):
    write(job, "out/last.pt", at=NOW - 2000)
    assert [look(watch, job, NOW + seconds) for seconds in (0, 10, 20)] == [None] * 3


def test_jobs_that_never_make_way_are_not_looked_at(job):
    watch = CheckpointWatch(lambda _: False)
    assert look(watch, job, NOW, checkpoint=stated(step=40)) is None


def test_the_progress_has_the_checkpoint_that_only_files_show(watch, job):
    write(job, "out/step=40.ckpt", at=NOW - 5)
    look(watch, job, NOW)
    look(watch, job, NOW + 10)
    shown = watch.with_saved(job, a_progress()).checkpoint
    assert (shown.step, shown.path) == (40, f"{job.workdir}/out/step=40.ckpt")
    another_run = a_job(state=JobState.RUNNING, restarts=1)
    assert watch.with_saved(another_run, a_progress()).checkpoint is None


@pytest.mark.parametrize(
    ("names", "newest", "step", "unfinished"),
    [
        (["a/epoch=1-step=20.ckpt", "a/last.txt"], "a/epoch=1-step=20.ckpt", 20, False),
        (["a/epoch=1-step=20.ckpt", "a/last.ckpt"], "a/last.ckpt", 20, False),
        (["version_0/checkpoints/step=7.ckpt"], "version_0/checkpoints/step=7.ckpt", 7, False),
        (["checkpoint-5/x.bin", "checkpoint-10/x.bin"], "checkpoint-10", 10, False),
        (["last.pt", "last.pt.tmp"], "last.pt.tmp", None, True),
        (["tmp-checkpoint-30/model.bin"], "tmp-checkpoint-30", 30, True),
        (["iter_0000500/mp_rank_00/distrib.pt"], "iter_0000500", 500, False),
    ],
)
def test_which_checkpoint_is_the_newest(job, names, newest, step, unfinished):
    for place, name in enumerate(names):
        write(job, f"out/{name}", at=NOW + place)
    found = newest_below(INVOKER, f"{job.workdir}/out")
    assert found.path == f"{job.workdir}/out/{newest}"
    assert (found.step, found.unfinished) == (step, unfinished)


def test_what_is_not_there_is_no_checkpoint(job):
    assert newest_below(INVOKER, f"{job.workdir}/out") is None
    assert newest_below(INVOKER, f"{job.workdir}/nowhere") is None
    assert saved_at(INVOKER, f"{job.workdir}/out/last.pt") is None
