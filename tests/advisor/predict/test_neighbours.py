"""Likely candidates are found by keys they share; the store and the memory of tests agree."""

import math
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predict.support import a_run, columns, record
from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.jobs import sketch_of_target
from schedmate.advisor.predict.neighbours import distances, find_neighbours
from schedmate.advisor.predict.runs import columns_of, query_of, rows_of
from schedmate.model import Fingerprint, Request
from schedmate.model.sketch import (
    ROW,
    blocks,
    configuration,
    packed,
    sketch_of,
    sketch_of_run,
    stem,
)
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.history import MemoryHistory

STATED = {"model": "gpt2", "dataset": "owt", "max_steps": 1000, "learning_rate": 6e-4}


@pytest.fixture(params=["sqlite", "memory"])
def keep(request, tmp_path):
    """A function from runs to a history that has them."""
    stores = []

    def kept(runs):
        if request.param == "memory":
            return MemoryHistory(list(runs))
        stores.append(SqliteStore(tmp_path / f"{len(stores)}.db"))
        stores[-1].keep_runs(list(runs))
        return stores[-1]

    yield kept
    for store in stores:
        store.close()


def neighbours(history, *, user="ann", name="train", gpus=1, code=None, arguments="a", **stated):
    target = Target(workdir=None, command=("x",), request=Request(gpus=gpus), user=user, name=name)
    marks = None if code is None else Fingerprint(code=code, arguments=arguments)
    sketch = sketch_of_target(target, marks, record(**stated))
    return find_neighbours(history, sketch, submitted_at=target.submitted_at)


def jobs(history, found):
    numbers = found.runs.rows["run"][found.in_tier].tolist()
    return [run.job.id for run in history.runs_numbered(numbers)]


def test_tiers_go_from_identical_to_similar(keep):
    history = keep(
        [
            a_run(1, 60, code="c", arguments="a", **STATED),
            a_run(2, 60, code="c", arguments="b", **STATED),
            a_run(3, 60, code="d", arguments="a", **STATED),
        ]
    )
    assert jobs(history, neighbours(history, code="c", **STATED)) == ["1"]
    assert set(jobs(history, neighbours(history, code="c", arguments="z", **STATED))) == {"1", "2"}
    assert set(jobs(history, neighbours(history, code="z", **STATED))) == {"1", "2", "3"}


def test_a_renamed_job_is_found_by_what_it_is(keep):
    history = keep(
        [
            a_run(1, 60, user="bob", optimizer="adamw", **STATED),
            a_run(2, 60, user="bob", optimizer="sgd", model="x", dataset="y", learning_rate=0.1),
        ]
    )
    hidden = STATED | {"model": "our-net"}
    found = neighbours(history, user="eve", name="other", optimizer="adamw", **hidden)
    assert jobs(history, found) == ["1"]


def test_what_has_nothing_in_common_is_no_match(keep):
    history = keep([a_run(n, 60, user="bob", model="bert", dataset="wiki") for n in range(5)])
    assert neighbours(history, model="gpt2", dataset="owt", framework="jax") is None
    assert neighbours(history) is None


def test_a_configuration_run_often_hides_no_other(keep):
    often = [a_run(100 + n, 60, gpus=8, **STATED) for n in range(400)]
    history = keep([a_run(1, 500, gpus=1, **STATED), *often])
    assert "1" in jobs(history, neighbours(history, gpus=2, **STATED))


def test_of_one_configuration_only_the_newest_runs_count(keep):
    history = keep([a_run(n, 60, code="c", **STATED) for n in range(50)])
    found = jobs(history, neighbours(history, code="c", **STATED))
    assert found == [str(n) for n in range(49, 29, -1)]


def test_a_run_that_is_kept_again_is_found_once_and_as_it_is_now(keep, tmp_path):
    store = SqliteStore(tmp_path / "again.db")
    first = a_run(1, 60, **STATED)
    store.keep_run(first)
    store.keep_run(replace(first, gpu_memory_mb=700.0))
    found = neighbours(store, **STATED)
    assert found.runs.rows["memory"].tolist() == [700.0]
    store.close()


def test_sketches_of_another_shape_are_made_anew(tmp_path):
    store = SqliteStore(tmp_path / "old.db")
    store.keep_runs([a_run(n, 60, **STATED) for n in range(3)])
    store.close()
    with closing(sqlite3.connect(tmp_path / "old.db")) as raw:
        raw.execute("UPDATE run_sketches SET sketch = x'00'")
        raw.execute("INSERT OR REPLACE INTO meta VALUES ('sketch_version', '0')")
        raw.commit()
    again = SqliteStore(tmp_path / "old.db")
    assert len(neighbours(again, **STATED).runs) == 3
    again.close()


def test_what_a_new_store_was_told_is_not_made_anew_when_first_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("schedmate.store.sketches._REMADE", 5)
    store = SqliteStore(tmp_path / "new.db")
    store.keep_runs([a_run(n, 60, **STATED) for n in range(30)])
    assert len(rows_of(store.newest_sketches(100))) == 30
    store.close()


def test_the_same_size_is_found_behind_hundreds_of_newer_ones_of_another(tmp_path):
    store = SqliteStore(tmp_path / "sizes.db")
    old = [a_run(0, 60, **STATED | {"batch_size": 64})]
    newer = [a_run(n, 60, **STATED | {"batch_size": n + 100}) for n in range(1, 400)]
    store.keep_runs([*old, *newer])
    found = neighbours(store, **STATED | {"batch_size": 64, "max_steps": 2000})
    assert found.similarity.max() > 0.99
    store.close()


NUMBER = st.none() | st.integers(-5, 10**18)
TEXT = st.none() | st.text(max_size=30)


@given(
    steps=NUMBER,
    batch=NUMBER,
    model=TEXT,
    user=st.text(max_size=20),
    gpu=TEXT,
)
def test_any_record_has_a_row_of_the_same_size(steps, batch, model, user, gpu):
    stated = {"max_steps": steps, "batch_size": batch, "model": model}
    stated |= {"early_stopping": len(user) % 2 == 0}
    sketch = sketch_of(
        record(**{name: value for name, value in stated.items() if value is not None}),
        user=user,
        name=user,
        request=Request(gpus=1, gpu_type=gpu),
        fingerprint=None,
    )
    row = packed(7, a_run(1, 5), sketch)
    assert len(row) == ROW.size
    found = columns_of(rows_of(row))
    assert found.rows["run"].tolist() == [7]
    assert all(-(1 << 63) <= key < 1 << 63 for key in blocks(sketch, configuration(row)))
    assert configuration(query_of(sketch, 3.0).rows.tobytes()) == configuration(row)


def test_rows_that_are_cut_off_are_refused():
    with pytest.raises(ValueError, match="no rows"):
        rows_of(b"123")


def test_names_with_other_numbers_are_one_name():
    assert {stem(name) for name in ("train", "train-12", "train_v3.sh", "Train.py")} == {"train"}


def test_code_with_a_line_changed_is_nearer_than_other_code():
    marks = [tuple(range(64)), (*range(62), 1, 0), tuple(n * 7 // 3 for n in range(64))]
    runs = [
        replace(
            a_run(n, 60, **STATED),
            fingerprint=Fingerprint(code=f"c{n}", arguments="a", signature=each),
        )
        for n, each in enumerate(marks)
    ]
    found = columns(runs)
    alike = np.exp(-np.sum(distances(found.take([0]), found), axis=0)[0])
    assert math.isclose(alike[0], 1.0, rel_tol=1e-3)
    assert alike[0] > alike[1] > alike[2]
    assert sketch_of_run(runs[0]).shape != 0
