"""Short ways give what the long ones do: records, the history in memory, predictions."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from schedmate.advisor import Target
from schedmate.advisor.predict.durations import estimate_duration
from schedmate.advisor.predict.jobs import sketch_of_target
from schedmate.advisor.predict.prediction import predict
from schedmate.advisor.predict.site_model import SiteModel
from schedmate.model import Job, JobState, PastRun, Request
from schedmate.model.sketch import blocks, configuration, sketch_of, sketch_of_run
from schedmate.simulator.estimators.memory import RunMemory
from schedmate.simulator.estimators.reading import Records, read_job
from schedmate.simulator.synthetic import draw_workload
from schedmate.simulator.traces.columns import STATES, columns_of
from schedmate.simulator.traces.synthetic import synthetic
from schedmate.store.sqlite import SqliteStore

JOBS = 150
COMPARED = {"identical", "same_code", "similar"}


@pytest.fixture(scope="module")
def columns():
    return columns_of(synthetic(JOBS, gpus=64, seed=3).jobs)


@pytest.fixture(scope="module")
def workload(columns):
    return draw_workload(columns, seed=3, unread=0.0, wrong_records=0.0)


@pytest.fixture(scope="module")
def runs(columns, workload):
    """In the order in which they end."""
    records = Records(workload.submission)
    ends = columns.submit + columns.duration
    return [
        PastRun(
            job=Job(
                id=columns.ids[at],
                name=workload.names[at],
                user=columns.user[at],
                state=STATES[columns.status[at]],
                workdir="/",
                request=Request(gpus=int(columns.gpus[at])),
                submit_time=float(columns.submit[at]),
                start_time=float(columns.submit[at]),
                end_time=float(ends[at]),
            ),
            fingerprint=records.fingerprint(at, int(columns.gpus[at])),
            workload=records.workload(at, int(columns.gpus[at])),
            startup_s=float(workload.startup_s[at]),
        )
        for at in np.argsort(ends, kind="stable").tolist()
    ]


def target_of(run):
    return Target(
        workdir=Path("/"),
        command=(),
        request=run.job.request,
        user=run.job.user,
        name=run.job.name,
        submitted_at=run.job.end_time,
    )


def test_a_record_is_what_the_reader_reads_from_the_real_command_line(columns, workload):
    records = Records(workload.submission)
    for at in range(0, JOBS, 10):
        gpus = int(columns.gpus[at])
        record, prints = read_job(workload.submission, at, Request(gpus=gpus))
        quick = records.workload(at, gpus)

        long, short = (
            sketch_of(each, user="u", name="n", request=Request(gpus=gpus), fingerprint=marks)
            for each, marks in ((record, prints), (quick, records.fingerprint(at, gpus)))
        )

        for field in fields(short):
            if field.name != "arguments":
                np.testing.assert_equal(getattr(short, field.name), getattr(long, field.name))


def test_arguments_are_the_same_where_the_readers_are(columns, workload):
    records, quick, read = Records(workload.submission), [], []
    shared = [
        at
        for at in range(JOBS)
        if workload.submission.project[at] == workload.submission.project[0]
    ][:8]
    for at in [*shared, shared[0]]:
        gpus = int(columns.gpus[at])
        quick.append(records.fingerprint(at, gpus).arguments)
        read.append(read_job(workload.submission, at, Request(gpus=gpus))[1].arguments)

    assert [quick.index(each) for each in quick] == [read.index(each) for each in read]


def test_an_unread_length_is_not_in_the_record(columns):
    work = draw_workload(columns, seed=3, unread=1.0).submission

    record = Records(work).workload(0, 1)

    assert record.epochs is None
    assert record.max_steps is None


def test_predictions_in_bulk_are_those_made_one_by_one_bit_by_bit(runs):
    history, compared = RunMemory(), set()
    for run in runs:
        target = target_of(run)
        sketch = sketch_of_target(target, run.fingerprint, run.workload)
        live = predict(history, target, run.fingerprint, run.workload, site_model=SiteModel())
        for _ in range(2):  # the second time what is kept answers
            bulk = estimate_duration(
                history, sketch, run.workload, submitted_at=target.submitted_at
            )
            if bulk is None or bulk.neighbours.none_ended:
                assert live.basis not in COMPARED
            else:
                compared.add(bulk.neighbours.tier)
                assert (bulk.neighbours.tier, bulk.duration_s) == (live.basis, live.duration_s)
        history.keep(run, sketch)

    assert compared == COMPARED


def test_the_memory_answers_like_the_store(runs, tmp_path):
    memory, store = RunMemory(enough=300), SqliteStore(tmp_path / "store.db")
    for run in runs:
        memory.keep(run)
    store.keep_runs(runs)

    assert memory.newest_sketches(7)[8:] != b""
    mine, theirs = (sorted(r.job.id for r in h.recent_runs(limit=9)) for h in (memory, store))
    assert mine == theirs
    code = runs[0].fingerprint.code
    ids = [[run.job.id for run in each.runs_of_code(code)] for each in (memory, store)]
    assert ids[0] == ids[1]
    same = [len(each.runs_with_fingerprint(runs[0].fingerprint)) for each in (memory, store)]
    assert same[0] == same[1]
    store.close()


def test_runs_of_unknown_code_do_not_end_the_search_for_neighbours(runs):
    """The key after the configuration's is the code's only where the code is known."""
    nameless = [replace(run, fingerprint=None) for run in runs]
    mine = nameless[0]
    twin = replace(mine, job=replace(mine.job, id="twin", user="another"))
    memory = RunMemory()
    for run in (twin, mine):
        memory.keep(replace(run, job=replace(run.job, state=JobState.COMPLETED)))
    row = memory.newest_sketches(1)

    found = memory.sketches(blocks(sketch_of_run(mine), configuration(row)))

    assert len(found) == 2 * len(row)
