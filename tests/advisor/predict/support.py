"""Made-up histories whose law is known."""

import math
import random

from schedmate.advisor.predict.runs import columns_of, rows_of
from schedmate.model import Finding, Fingerprint, Job, JobState, PastRun, Request, Workload
from schedmate.model.sketch import packed, sketch_of_run

YEAR_S = 365.25 * 86400


def record(**values):
    return Workload(**{name: Finding(value=value, source="code") for name, value in values.items()})


def a_run(
    number, seconds, *, user="ann", gpus=1, gpu_type=None, code=None, arguments="a", **stated
):
    """`stated` is what its record says."""
    job = Job(
        id=str(number),
        name="train",
        user=user,
        state=stated.pop("state", JobState.COMPLETED),
        workdir="/",
        request=Request(gpus=gpus, gpu_type=gpu_type),
        submit_time=number * 60.0,
        start_time=number * 60.0,
        end_time=number * 60.0 + seconds,
    )
    marks = None if code is None else Fingerprint(code=code, arguments=arguments)
    return PastRun(job=job, fingerprint=marks, workload=record(**stated))


def columns(runs):
    return columns_of(
        rows_of(b"".join(packed(n, run, sketch_of_run(run)) for n, run in enumerate(runs)))
    )


def site(exponent, *, kinds=6, of_each=12, noise=0.02, seed=3):
    """Kinds of jobs that take `steps / gpus ** exponent`, each at a pace of its own."""
    pick = random.Random(seed)
    runs = []
    for kind in range(kinds):
        pace = math.exp(pick.gauss(0, 1))
        for _ in range(of_each):
            gpus, steps = pick.choice((1, 2, 4, 8, 16)), pick.choice((1000, 2000, 8000))
            seconds = pace * steps / gpus**exponent * math.exp(pick.gauss(0, noise))
            runs.append(
                a_run(len(runs), seconds, gpus=gpus, max_steps=steps, model=f"m{kind}", dataset="d")
            )
    return runs
