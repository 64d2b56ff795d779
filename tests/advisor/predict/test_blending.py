"""Code and history together: never much worse than history, better where the code tells."""

from __future__ import annotations

import math

import numpy as np
import pytest

from advisor.predict.support import a_run
from schedmate.advisor.predict.blending import Blend, log_work
from schedmate.advisor.predict.distributions import SIZE, STEP
from schedmate.advisor.predict.durations import estimate_duration
from schedmate.model import Finding, Fingerprint, Request, Workload
from schedmate.model.sketch import sketch_of, sketch_of_run
from schedmate.model.wire import dumps, loads
from schedmate.simulator.estimators.memory import RunMemory

GRID = np.arange(SIZE) * STEP
JOBS = 400


def pmf(middle, sigma):
    mass = np.exp(-0.5 * ((GRID - middle) / sigma) ** 2) + 1e-6
    return (mass / mass.sum()).astype(np.float32)


def sketch(steps, *, signature=(1, 2, 3), model="gpt2"):
    workload = Workload(
        model=Finding(value=model, source="code"),
        max_steps=None if steps is None else Finding(value=steps, source="code"),
    )
    marks = Fingerprint(code=f"c{signature}", arguments="a", signature=signature)
    return sketch_of(workload, user="ann", name="train", request=Request(gpus=1), fingerprint=marks)


def replayed(stated_of, *, middle_of=lambda log_s, rng: 8.0, seed=0, blend=None):
    """Mean error (log) of the blend, of the site alone and of the usual time, of the second half
    of jobs; `stated_of` is the logarithm of the steps that a job states."""
    rng, blend = np.random.default_rng(seed), blend or Blend()
    errors = []
    for number in range(JOBS):
        log_s = rng.normal(8.0, 1.5)
        middle, steps = middle_of(log_s, rng), max(1, round(math.exp(stated_of(log_s, rng))))
        blended = blend.predict(pmf(middle, 1.5), user="ann", sketch=sketch(steps))
        if number >= JOBS // 2:
            said = math.log1p(blended.duration_s.p50)
            errors.append([abs(each - log_s) for each in (said, middle, 8.0)])
        blend.learn(blended, math.expm1(log_s))
    return np.mean(errors, axis=0)


@pytest.mark.parametrize("seed", range(3))
def test_a_claim_that_tells_nothing_costs_next_to_nothing(seed):
    error, alone, _ = replayed(lambda _, rng: rng.normal(8.0, 1.5), seed=seed)

    assert error < 1.03 * alone


@pytest.mark.parametrize("seed", range(3))
def test_a_past_that_tells_is_heard_beside_a_claim_that_tells_nothing(seed):
    error, alone, usual = replayed(
        lambda _, rng: rng.normal(8.0, 1.5),
        middle_of=lambda log_s, rng: log_s + rng.normal(0, 0.7),
        seed=seed,
    )

    assert error < 1.1 * alone < usual


@pytest.mark.parametrize("off", [3.0, -3.0])
def test_a_claim_that_is_always_off_by_as_much_is_as_good_as_one_that_is_right(off):
    error, alone, _ = replayed(lambda log_s, rng: log_s + off + rng.normal(0, 0.3))

    assert error < 0.4 * alone


def test_a_past_that_swings_takes_little_of_what_the_code_tells():
    """Drift: what the cohorts say has nothing to do with how long jobs take now."""
    told = replayed(lambda log_s, rng: log_s + rng.normal(0, 1.0))[0]
    error, alone, usual = replayed(
        lambda log_s, rng: log_s + rng.normal(0, 1.0), middle_of=lambda _, rng: rng.normal(8, 2)
    )

    assert told < error < 1.3 * told < usual < alone


def test_what_was_learnt_is_kept_and_read_again():
    blend = Blend()
    replayed(lambda log_s, rng: log_s + rng.normal(0, 0.5), blend=blend)
    asked = {"user": "ann", "limit_s": 7200.0, "sketch": sketch(5000)}

    again = loads(Blend, dumps(blend))

    assert again.predict(pmf(8.0, 1.5), **asked).duration_s.p50 == pytest.approx(
        blend.predict(pmf(8.0, 1.5), **asked).duration_s.p50, rel=1e-3
    )


def test_twice_the_steps_of_the_same_code_take_twice_the_time():
    blend, rng = Blend(), np.random.default_rng(0)
    for _ in range(200):
        steps = int(rng.integers(100, 100_000))
        blended = blend.predict(pmf(8.0, 3.0), user="ann", sketch=sketch(steps))
        blend.learn(blended, 0.5 * steps)

    said = [
        blend.predict(pmf(8.0, 3.0), user="ann", sketch=sketch(steps)).duration_s.p50
        for steps in (5000, 10_000)
    ]

    assert said[0] == pytest.approx(2500, rel=0.2)
    assert said[1] == pytest.approx(2 * said[0], rel=0.15)


def test_code_that_states_no_length_has_no_pace():
    assert log_work(sketch(None)) is None
    blended = Blend().predict(pmf(8.0, 1.0), user="ann", sketch=sketch(None))
    assert blended.claims == ()


@pytest.mark.parametrize(("spread", "answers"), [(0.01, True), (2.0, False)])
def test_repeats_answer_alone_as_long_as_they_are_nearer(spread, answers):
    rng, blend, past = np.random.default_rng(0), Blend(), RunMemory()
    estimate = None
    for number in range(60):
        run = a_run(number, math.exp(rng.normal(8.0, spread)), code="c", max_steps=100, model="m")
        each = sketch_of_run(run)
        estimate = estimate_duration(past, each, run.workload, submitted_at=None)
        site = pmf(math.log(run.duration_s), 0.3)
        blended = blend.predict(site, user="ann", sketch=each, estimate=estimate)
        blend.learn(blended, run.duration_s)
        past.keep(run)

    assert estimate is not None
    assert estimate.neighbours.tier == "identical"
    assert blend.lets_answer(estimate) == answers
