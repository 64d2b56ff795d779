"""A cold start: what a language model's training takes by its arithmetic alone, honestly wide."""

from __future__ import annotations

import math

from schedmate.advisor.knowledge.accelerators import accelerator
from schedmate.model import Prediction, Request, Spread, Workload
from schedmate.model.sketch import Sketch

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
            f"at {_USED:.0%} of its peak"
        ),
    )
