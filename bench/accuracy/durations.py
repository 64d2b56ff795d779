"""How well durations are predicted from what a scheduler knows at submission.

    python -m bench.accuracy.durations                # five sets, beside eight simple methods
    python -m bench.accuracy.durations theta --fast   # one set, without LightGBM

Jobs come in the order of submission; a prediction rests only on those that had ended by then (and,
for SchedMate, on how long the others had been running). The last row is the prediction for a job
when its wait is over. Where a trace has no waits a job starts when it is submitted:
Helios, Philly, Philly 2017 and ITP. Three tables a set: all jobs but the first tenth; the second
half alone; and all. The method's settings were chosen, among some fifty variants, with both halves
of all sets but Philly 2017 in view, so none of those are held-out figures. `--fast` leaves LightGBM
out. Data: bench/README.md.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.accuracy.duration_baselines import (
    LastTwo,
    Limit,
    MedianBy,
    Method,
    NearestText,
    Qssf,
    RecentBy,
    Trees,
)
from bench.command import command_line, machine
from bench.corpora import traces as data
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.jobs import EndedJob, replay
from schedmate.model import Spread

DEFAULT = ["helios", "philly", "theta", "lsf", "lsf-gpu"]
OURS = "SchedMate"
AT_START = "SchedMate, at the start"
FACTOR = 2.0
LONG_WAIT_S = 60.0
LEVELS = np.array([0.1, 0.5, 0.9])
HEAD = f"{'':24}{'within 2x':>10}{'median err':>11}{'p90 covers':>11}{'p10-p90':>9}{'pinball':>9}"


@dataclass(frozen=True, slots=True)
class Predicted:
    """What every method predicted for a job, and how long it took."""

    spreads: dict[str, Spread | None]
    real_s: float


def baselines(runs: Sequence[EndedJob], *, fast: bool) -> dict[str, Method]:
    methods: dict[str, Method] = {
        "global median": MedianBy(lambda _: None),
        "user's last two": LastTwo(),
        "user x GPUs median": MedianBy(lambda facts: (facts.user, facts.gpus)),
        "user x request, last 30": RecentBy(lambda facts: (facts.user, facts.request)),
        "requested limit": Limit(),
        "TF-IDF neighbours": NearestText(),
    }
    if fast:
        return methods
    trees = Trees(runs)
    return methods | {"LightGBM on metadata": trees, "QSSF-like": Qssf(trees)}


def predict(runs: Sequence[EndedJob], methods: dict[str, Method]) -> list[Predicted]:
    """In the order of submission; SchedMate's is the class that the daemon uses."""
    ours, at_start = predict_with_site_model(runs)
    predicted = []
    for event in replay(runs):
        if event.kind == "submit":
            facts = event.run.facts
            spreads = {name: method.predict(facts) for name, method in methods.items()}
            spreads |= {OURS: ours[facts.job_id], AT_START: at_start[facts.job_id]}
            predicted.append(Predicted(spreads, event.run.duration_s))
        elif event.kind == "end":
            for method in methods.values():
                method.ended(event.run)
    return predicted


def predict_with_site_model(
    runs: Sequence[EndedJob],
) -> tuple[dict[str, Spread], dict[str, Spread]]:
    """At submission, and again when a job that waited for a minute starts, as `serve` does it."""
    model, ours, at_start = CohortModel(), {}, {}
    for event in replay(runs):
        facts = event.run.facts
        match event.kind:
            case "submit":
                ours[facts.job_id] = at_start[facts.job_id] = model.submitted(facts)
            case "start":
                if event.at - facts.submitted_at >= LONG_WAIT_S:
                    as_it_starts = replace(facts, submitted_at=event.at)
                    at_start[facts.job_id] = model.predict(as_it_starts).duration_s
                model.started(facts.job_id, event.at)
            case "end":
                model.ended(event.run)
    return ours, at_start


def row(name: str, predicted: Sequence[Predicted]) -> str | None:
    """None where a method answers for less than half; one second stands for each gap."""
    answers = [each.spreads[name] for each in predicted]
    if sum(each is not None for each in answers) < len(answers) / 2:
        return None
    spreads = np.array([(s.p10, s.p50, s.p90) if s else (0.0, 1.0, 1.0) for s in answers])
    real = np.maximum([each.real_s for each in predicted], 1e-3)
    middle = np.maximum(spreads[:, 1], 1e-3)
    ratio = np.maximum(middle / real, real / middle)
    off = np.log1p(real)[:, None] - np.log1p(spreads)
    pinball = np.maximum(LEVELS * off, (LEVELS - 1) * off).mean()
    covered = real <= spreads[:, 2]
    return (
        f"{name:24}{(ratio <= FACTOR).mean():10.1%}{np.median(np.abs(middle / real - 1)):11.1%}"
        f"{covered.mean():11.1%}{(covered & (real >= spreads[:, 0])).mean():9.1%}{pinball:9.3f}"
    )


def report(name: str, *, fast: bool) -> None:
    runs = data.jobs(name)
    predicted = predict(runs, baselines(runs, fast=fast))
    tenth, half = len(predicted) // 10, len(predicted) // 2
    parts = {
        "from the first tenth on": predicted[tenth:],
        "second half": predicted[half:],
        "all": predicted,
    }
    for part, of_part in parts.items():
        print(f"\n{name}, {part}: {len(of_part):,} of {len(predicted):,} jobs\n{HEAD}")
        for method in predicted[0].spreads:
            if (line := row(method, of_part)) is not None:
                print(line, flush=True)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument(
        "sets", nargs="*", default=DEFAULT, metavar="SET", help=", ".join(data.SETS)
    )
    parser.add_argument("--fast", action="store_true", help="without LightGBM")
    arguments = parser.parse_args()
    started = time.monotonic()
    for name in arguments.sets:
        report(name, fast=arguments.fast)
    print(f"\n{time.monotonic() - started:.0f} s on {machine()}; pinball of log seconds")


if __name__ == "__main__":
    main()
