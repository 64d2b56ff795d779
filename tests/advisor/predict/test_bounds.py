"""Whatever the history, an answer lies among the runs that it rests on."""

import math
import random
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.predict.support import a_run, columns, record
from schedmate.advisor import Target
from schedmate.advisor.predict.distributions import SIZE, below_of, place_of, spread_of
from schedmate.advisor.predict.neighbours import distances
from schedmate.advisor.predict.prediction import predict
from schedmate.advisor.predict.runs import query_of
from schedmate.advisor.predict.scaling import scale
from schedmate.advisor.predict.site_model import learn
from schedmate.advisor.predict.without_runs import LONGEST_S
from schedmate.model import Fingerprint, JobState, Request
from schedmate.model.sketch import sketch_of_run
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.history import MemoryHistory

GPU_TYPES = (None, "a100", "h100", "NVIDIA Blackwell GPU (B200-SXM-180GB)")
NAMES, USERS = ("bert", "resnet", "sweep", ""), ("ann", "bob", "eve")
SIGNATURES = ((), tuple(range(64)), (*range(60), 0, 1, 1, 0), tuple(n // 3 for n in range(64)))
LATER = 2e6
"""After all runs, yet so soon that what a year changes is less than two per cent."""


def run_of(number, seconds, *, name="train", signature=None, **stated):
    run = a_run(number, seconds, **stated)
    marks = run.fingerprint and replace(run.fingerprint, signature=signature or ())
    return replace(run, job=replace(run.job, name=name), fingerprint=marks)


@st.composite
def runs(draw, *, most=25, least=1):
    """Of any users and names, stating any part of what there is to state."""
    facts = st.fixed_dictionaries(
        {"user": st.sampled_from(USERS), "name": st.sampled_from(NAMES)},
        optional={
            "gpus": st.sampled_from((1, 2, 8, 16)),
            "gpu_type": st.sampled_from(GPU_TYPES),
            "code": st.sampled_from(("c", "d", "e")),
            "signature": st.sampled_from(SIGNATURES),
            "batch_size": st.sampled_from((8, 64, 4096)),
            "sequence_length": st.sampled_from((128, 8192)),
            "model": st.sampled_from(("gpt2", "bert", "vit")),
            "dataset": st.sampled_from(("owt", "wiki")),
        },
    )
    many = draw(st.lists(st.tuples(st.floats(1.0, 1e6), facts), min_size=least, max_size=most))
    return [run_of(number, took, **stated) for number, (took, stated) in enumerate(many)]


@contextmanager
def store_of(kept, *, learnt):
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "store.db")
        store.keep_runs(kept)
        if learnt:
            learn(store, at=LATER)
        yield store
        store.close()


def ask(history, *, user="ann", name="not-used-before", gpus=8, gpu_type=None, **stated):
    request = Request(gpus=gpus, gpu_type=gpu_type)
    asked = Target(
        workdir=Path("/"),
        command=("x",),
        request=request,
        user=user,
        name=name,
        submitted_at=LATER,
    )
    marks = stated.pop("marks", None)
    return predict(history, asked, marks, record(**stated), now=LATER)


@settings(max_examples=80, deadline=None)
@given(runs(most=10, least=3))
def test_distances_are_a_metric(many):
    found = columns(many)
    for apart in distances(found, found):
        assert np.allclose(apart, apart.T)
        assert np.allclose(np.diag(apart), 0.0)
        by_a_third = (apart[:, :, None] + apart[None, :, :]).min(axis=1)
        assert (apart <= by_a_third + 1e-9).all()


@settings(max_examples=80, deadline=None)
@given(runs())
def test_the_answer_lies_among_the_scaled_times(many):
    found = columns(many)
    query = query_of(sketch_of_run(run_of(99, 1.0, name="not-used-before", model="gpt2")), LATER)
    by_words, by_numbers = distances(query, found)
    logs = np.log(found.rows["duration"].astype(float))
    answer = scale(found, logs, query, (by_words[0], by_numbers[0]), "open")
    assert answer.each.min() - 1e-9 <= answer.log_s <= answer.each.max() + 1e-9
    assert 0 < answer.sd < 100


SAME = {"gpus": 8, "model": "gpt2", "dataset": "owt", "batch_size": 64}


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(USERS),
            st.sampled_from(NAMES),
            st.floats(10, 1e5),
            st.sampled_from("cd"),
        ),
        min_size=1,
        max_size=40,
    ),
    st.booleans(),
    st.sampled_from((*NAMES, "not-used-before")),
)
def test_where_only_names_differ_the_median_is_among_the_durations(facts, learnt, name):
    """The user has own runs under another name; nothing but the date is there to scale by."""
    own = run_of(0, 5100.0, user="ann", name="older", code="c", **SAME)
    others = [
        run_of(n, seconds, user=user, name=called, code=code, **SAME)
        for n, (user, called, seconds, code) in enumerate(facts, start=1)
    ]
    with store_of([own, *others], learnt=learnt) as store:
        said = ask(store, name=name, model="gpt2", dataset="owt", batch_size=64).duration_s
    times = [run.duration_s for run in (own, *others)]
    assert 0.98 * min(times) <= said.p50 <= 1.02 * max(times)
    assert said.p10 <= said.p50 <= said.p90 <= LONGEST_S


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(runs(), st.booleans(), st.sampled_from((*NAMES, "not-used-before")), st.sampled_from(USERS))
def test_no_history_makes_an_absurd_answer(many, learnt, name, user):
    with store_of(many, learnt=learnt) as store:
        said = ask(store, user=user, name=name, gpu_type="h100", **SAME | {"gpus": 8}).duration_s
    if said is None:
        return
    times = [run.duration_s for run in many]
    assert min(times) / 1000 <= said.p50 <= 1000 * max(times)
    assert 0 <= said.p10 <= said.p50 <= said.p90 <= LONGEST_S


@pytest.mark.parametrize("seed", range(10, 20))
def test_a_new_name_on_a_site_with_a_law_is_predicted_by_the_law(seed):
    """With distances that contradicted each other, one of these 6,150 s became 16 hours."""
    pick = random.Random(seed)
    kept = []
    for number in range(pick.randint(3, 60)):
        user, name = pick.choice(["ann", "bob", "eve", "dan"]), pick.choice(NAMES)
        gpus = pick.choice([1, 2, 4, 8, 16])
        seconds = 40_000 / gpus**0.9 * math.exp(pick.gauss(0, 0.1))
        stated = {"gpu_type": pick.choice(["a100", "h100", None]), "dataset": "d"}
        stated |= {"model": pick.choice(["m1", "m1", "m2"]), "batch_size": pick.choice([8, 16, 32])}
        kept.append(run_of(number, seconds, user=user, name=name, gpus=gpus, **stated))
    for learnt in (False, True):
        with store_of(kept, learnt=learnt) as store:
            said = ask(store, gpu_type="a100", model="m1", dataset="d", batch_size=16).duration_s
        assert 3000 < said.p50 < 12_000


def test_a_newer_chip_with_a_long_name_is_faster():
    history = MemoryHistory([run_of(1, 5000, gpu_type="NVIDIA H100-SXM5-80GB", **SAME)])
    stated = {"model": "gpt2", "dataset": "owt", "batch_size": 64}
    said = ask(history, gpu_type="NVIDIA Blackwell GPU (B200-SXM-180GB)", **stated).duration_s
    assert said.p50 < 3500


@pytest.mark.parametrize(
    ("gpu_type", "basis"), [("h100", "same_code"), ("a100", "identical"), (None, "identical")]
)
def test_what_ran_on_another_gpu_type_is_not_identical(gpu_type, basis):
    history = MemoryHistory([a_run(1, 8000, gpus=8, gpu_type="a100", code="c", model="gpt2")])
    marks = Fingerprint(code="c", arguments="a")
    answer = ask(history, gpu_type=gpu_type, marks=marks, model="gpt2")
    assert answer.basis == basis
    assert (answer.duration_s.p50 < 6000) == (basis == "same_code")


def test_the_middle_of_two_humps_is_their_median():
    mass = np.zeros(SIZE, np.float32)
    mass[round(place_of(10))], mass[round(place_of(600))], mass[round(place_of(9000))] = 40, 15, 45
    assert spread_of(below_of(mass)).p50 == pytest.approx(600, rel=0.1)


def test_failed_runs_of_others_are_no_durations():
    completed = [a_run(number, 3600, user="bob") for number in range(4)]
    failed = [a_run(9 + number, 5, user="bob", state=JobState.FAILED) for number in range(20)]
    answer = ask(MemoryHistory([*completed, *failed]), model="gpt2")
    assert answer.basis == "history"
    assert answer.duration_s.p50 == pytest.approx(3600, rel=0.01)
    assert "4 completed runs" in answer.explanation


def test_a_range_too_wide_to_plan_by_is_called_that():
    short, long = ([a_run(n + at, took, user="bob") for n in range(5)] for at, took in WIDTHS)
    wide = ask(MemoryHistory([*short, *long]), model="gpt2")
    narrow = ask(MemoryHistory(short), model="gpt2")
    assert wide.basis == narrow.basis == "history"
    assert wide.duration_s.too_wide
    assert "too uncertain to plan by" in wide.explanation
    assert "uncertain" not in narrow.explanation


WIDTHS = ((1, 8.0), (10, 9e5))


SPEED_UPS = (1.5, 1.8, 2.1, 2.4, 2.8, 3.1)
"""From A100 to H100, by what a job is bound by: memory, or arithmetic."""


def test_a_calibration_by_older_gpus_covers_newer_ones():
    """A rehearsal on one generation shows small errors only; they are not those of the next."""
    older = [
        run_of(20 * n, 4e2 / gpus**0.8 * math.exp(0.02 * math.sin(n)), code="c", arguments=str(n),
               gpus=gpus, gpu_type="a100", model=model, dataset="owt", batch_size=64)
        for n, (model, gpus) in enumerate(product(("gpt2", "bert", "vit"), (1, 2, 4, 8) * 5))
    ]  # fmt: skip
    with store_of(older, learnt=True) as store:
        marks = Fingerprint(code="c", arguments="new")
        stated = {"model": "gpt2", "dataset": "owt", "batch_size": 64, "marks": marks}
        said = ask(store, gpus=8, gpu_type="h100", **stated)
        same = ask(store, gpus=8, gpu_type="a100", **stated)
    newer, known = said.duration_s, same.duration_s
    covered = [newer.p10 <= 4e2 / 8**0.8 / each <= newer.p90 for each in SPEED_UPS]
    assert sum(covered) >= len(SPEED_UPS) - 1
    assert newer.p90 / newer.p10 > 1.5 * known.p90 / known.p10


def test_runs_that_failed_on_fewer_gpus_pull_p10_by_their_share_of_the_time():
    """A tenth of the time on one GPU is a tenth on 64 as well, not a day."""
    stated = {"model": "gpt2", "dataset": "owt", "batch_size": 64}
    many = [
        run_of(n, 1e5 if n % 3 else 1e4, code="c", arguments="one", gpus=1,
               state=JobState.COMPLETED if n % 3 else JobState.FAILED, **stated)
        for n in range(15)
    ]  # fmt: skip
    said = ask(
        MemoryHistory(many), gpus=64, marks=Fingerprint(code="c", arguments="many"), **stated
    ).duration_s
    assert said.p10 == pytest.approx(said.p50 / 10, rel=0.01)


def test_identical_runs_on_two_gpu_types_span_both_where_the_jobs_own_is_unknown():
    stated = {"gpus": 8, "code": "c", "model": "gpt2"}
    slow = [a_run(n, 1000 + n, gpu_type="a100", **stated) for n in range(15)]
    fast = [a_run(20, 400, gpu_type="h100", **stated)]
    history, marks = MemoryHistory([*slow, *fast]), Fingerprint(code="c", arguments="a")
    anywhere = ask(history, marks=marks, model="gpt2")
    there = ask(history, gpu_type="a100", marks=marks, model="gpt2")
    assert anywhere.basis == there.basis == "identical"
    assert anywhere.duration_s.p10 <= 400
    assert anywhere.duration_s.p90 >= 1010
    assert there.duration_s.p10 >= 1000
