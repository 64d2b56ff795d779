"""Code and history together: never much worse than history, better where the code tells."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schedmate.advisor.predict.blending import Blend, log_length
from schedmate.advisor.predict.distributions import SIZE, STEP, place_of
from schedmate.model import Finding, Fingerprint, Request, Workload
from schedmate.model.sketch import sketch_of

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


def replayed(claim_of, *, seed=0, blend=None):
    """Mean logarithmic loss and error of the blend and of the site alone, second half of jobs."""
    rng, blend = np.random.default_rng(seed), blend or Blend()
    losses, errors = [], []
    for number in range(JOBS):
        log_s = rng.normal(8.0, 1.5)
        site = pmf(8.0, 1.5)
        seconds = math.expm1(log_s)
        blended = blend.predict(
            site, user="ann", neighbours=("similar", math.exp(claim_of(log_s, rng)))
        )
        if number >= JOBS // 2:
            at = round(place_of(seconds))
            losses.append((float(blended.posterior[at]), float(site[at])))
            errors.append((abs(math.log1p(blended.duration_s.p50) - log_s), abs(8.0 - log_s)))
        blend.learn(blended, seconds)
    return -np.log(np.array(losses)).mean(axis=0), np.array(errors).mean(axis=0)


@pytest.mark.parametrize("seed", range(3))
def test_a_claim_that_tells_nothing_costs_next_to_nothing(seed):
    (blended, site), (error, alone) = replayed(lambda _, rng: rng.normal(8.0, 1.5), seed=seed)

    assert blended < site + 0.03
    assert error < 1.03 * alone


@pytest.mark.parametrize("off", [3.0, -3.0])
def test_a_claim_that_is_always_off_by_as_much_is_as_good_as_one_that_is_right(off):
    (blended, site), (error, alone) = replayed(lambda log_s, rng: log_s + off + rng.normal(0, 0.3))

    assert blended < site - 0.7
    assert error < 0.4 * alone


def test_what_was_learnt_is_kept_and_read_again():
    blend = Blend()
    replayed(lambda log_s, rng: log_s + rng.normal(0, 0.5), blend=blend)
    asked = {"user": "ann", "limit_s": 7200.0, "neighbours": ("similar", 5000.0)}

    again = Blend.load(blend.dump())

    assert again.is_learnt
    assert (
        again.predict(pmf(8.0, 1.5), **asked).duration_s
        == blend.predict(pmf(8.0, 1.5), **asked).duration_s
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
    assert log_length(sketch(None)) is None
    blended = Blend().predict(pmf(8.0, 1.0), user="ann", sketch=sketch(None))
    assert blended.claims == ()
