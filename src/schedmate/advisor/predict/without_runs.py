"""Predictions by a job alone, without past runs and without numpy, which only those need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from schedmate.advisor.knowledge.accelerators import accelerator
from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.jobs import sketch_of_target, unused_gpus_in_words
from schedmate.model import Fingerprint, History, Prediction, Request, Spread, Workload
from schedmate.model.advice import TOO_WIDE
from schedmate.model.sketch import Sketch

LONGEST_S = 1e8
"""Three years: no answer is longer."""
_LONGER = 1.25
"""Than it ever took, what is read may be taken to take: a hidden one is not taken for less."""
COHORTS = "cohorts/2"
"""Under which a history keeps what its cohorts take."""
UNLIKE_ANY = Prediction(basis="none", explanation="no past run resembles it")


def is_untaught(history: History) -> bool:
    """No run and nothing learnt from runs: any prediction goes by the job alone."""
    return not history.newest_sketches(1) and history.learnt(COHORTS) is None


def predict_alone(
    target: Target, fingerprint: Fingerprint | None, workload: Workload
) -> Prediction:
    """By arithmetic, where the record states all of the work."""
    sketch = sketch_of_target(target, fingerprint, workload)
    return within_reason(from_arithmetic(workload, sketch, target.request) or UNLIKE_ANY)


def at_most(spread: Spread, seconds: float) -> Spread:
    return Spread(min(spread.p10, seconds), min(spread.p50, seconds), min(spread.p90, seconds))


def not_below(said: Prediction, past: Sequence[float], target: Target) -> Prediction:
    """Of a job that must not be read: it may be the longest of its user's past runs that its limit
    allows, so that nothing is gained by hiding that it is."""
    limit = target.request.time_limit_s
    bound = LONGEST_S if limit is None else limit
    longest = _LONGER * min(max(past), bound)
    within = ", within its limit" if bound < max(past) else ""
    spread = said.duration_s or Spread(longest, longest, longest)
    return replace(
        said,
        basis="history",
        duration_s=replace(spread, p90=max(spread.p90, longest)),
        explanation=(
            f"it is not read; at least as long as the longest of {target.user}'s last "
            f"{len(past)} runs{within}"
        ),
    )


def within_reason(said: Prediction) -> Prediction:
    """Within what a job can take; a range too wide to plan by is given, and called that."""
    if said.duration_s is None:
        return said
    spread = at_most(said.duration_s, LONGEST_S)
    warning = (
        f"; p90 is over {TOO_WIDE:g} times p10, too uncertain to plan by" if spread.too_wide else ""
    )
    return replace(said, duration_s=spread, explanation=said.explanation + warning)


_PER_PARAMETER_AND_TOKEN = 6.0
"""Multiplications and additions, forward and backward."""
_USED = 0.3
"""Of its peak that a GPU reaches in ordinary training."""
_SOME_GPU = 200e12
_FACTOR = 4.0
"""Nine of ten such answers are wrong by less; by twice that where the GPU is not known."""
_SANE_S = (1.0, 3e7)


def from_arithmetic(workload: Workload, sketch: Sketch, request: Request) -> Prediction | None:
    """None where the record does not state all of the work, or states what cannot be."""
    numbers = ("steps", "batch", "sequence_length", "model_parameters")
    work = sum(sketch.number(name) for name in numbers) + math.log(_PER_PARAMETER_AND_TOKEN)
    if math.isnan(work) or sketch.open_ended:
        return None
    known = accelerator(request.gpu_type) if request.gpu_type else None
    speed = known.half_tflops * 1e12 if known and known.half_tflops else _SOME_GPU
    gpus = 0.0 if math.isnan(sketch.number("gpus")) else sketch.number("gpus")
    seconds = math.exp(min(work - gpus - math.log(speed * _USED), 30.0))
    if not _SANE_S[0] <= seconds <= _SANE_S[1]:
        return None
    factor = _FACTOR if known else 2 * _FACTOR
    where = known.name.upper() if known else "some usual GPU"
    model = workload.model.value if workload.model else "its model"
    return Prediction(
        basis="prior",
        duration_s=Spread(seconds / factor, seconds, seconds * factor),
        explanation=(
            f"no past run resembles it; so much arithmetic takes {model} on {where} "
            f"at {_USED:.0%} of its peak{unused_gpus_in_words(sketch, workload, request)}"
        ),
    )
