"""How well times are foretold from what a scheduler knows at submission, beside simple methods.

    python bench/durations.py [helios philly theta lsf lsf-gpu philly-2017 itp] [--fast]

Jobs come in the order in which they were submitted; what is said of one rests only on those that
had ended by then (and, for ours, on how long the others had been running); the last row is what is
said of a job when its wait is over. Where a trace has no waits a job starts when it is submitted:
Helios, Philly, Philly 2017 and ITP. Three tables a set: all jobs but the first tenth; the second
half alone; and all. The method's settings were chosen, among some fifty variants, with both halves
of all sets but Philly 2017 in view, so none of those are held-out figures. `--fast` leaves LightGBM
out. Data: SCHEDMATE_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import durations_data as data
import numpy as np
from durations_baselines import LastTwo, Limit, MedianBy, Method, NearestText, Qssf, RecentBy, Trees

from schedmate.advisor.predict.facts import Ran
from schedmate.advisor.predict.replay import replay
from schedmate.advisor.predict.site_model import SiteModel
from schedmate.model import Spread

OURS = "SchedMate"
AT_START = "SchedMate, as it starts"
FACTOR = 2.0
LONG_WAIT_S = 60.0
LEVELS = np.array([0.1, 0.5, 0.9])
HEAD = f"{'':24}{'within 2x':>10}{'median err':>11}{'p90 covers':>11}{'p10-p90':>9}{'pinball':>9}"


@dataclass(frozen=True, slots=True)
class Told:
    """What every method said of a job, and how long it took."""

    said: dict[str, Spread | None]
    real_s: float


def baselines(runs: Sequence[Ran], *, fast: bool) -> dict[str, Method]:
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


def foretold(runs: Sequence[Ran], methods: dict[str, Method]) -> list[Told]:
    """In the order in which they were submitted; ours is the class that the product uses."""
    ours, at_start = foretold_by_us(runs)
    told = []
    for event in replay(runs):
        if event.kind == "submit":
            facts = event.run.facts
            said = {name: method.predict(facts) for name, method in methods.items()}
            said |= {OURS: ours[facts.job_id], AT_START: at_start[facts.job_id]}
            told.append(Told(said, event.run.duration_s))
        elif event.kind == "end":
            for method in methods.values():
                method.ended(event.run)
    return told


def foretold_by_us(runs: Sequence[Ran]) -> tuple[dict[str, Spread], dict[str, Spread]]:
    """At submission, and again when a job that waited for a minute starts, as `serve` does it."""
    model, ours, at_start = SiteModel(), {}, {}
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


def row(name: str, told: Sequence[Told]) -> str | None:
    """None where the method has nothing to go by; where it has not yet, it is told one second."""
    said = [each.said[name] for each in told]
    if sum(each is not None for each in said) < len(said) / 2:
        return None
    spreads = np.array([(s.p10, s.p50, s.p90) if s else (0.0, 1.0, 1.0) for s in said])
    real = np.maximum([each.real_s for each in told], 1e-3)
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
    told = foretold(runs, baselines(runs, fast=fast))
    tenth, half = len(told) // 10, len(told) // 2
    parts = {"from the first tenth on": told[tenth:], "second half": told[half:], "all": told}
    for part, of_part in parts.items():
        print(f"\n{name}, {part}: {len(of_part):,} of {len(told):,} jobs\n{HEAD}")
        for method in told[0].said:
            if (line := row(method, of_part)) is not None:
                print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=["helios", "philly", "theta", "lsf", "lsf-gpu"])
    parser.add_argument("--fast", action="store_true", help="without LightGBM")
    arguments = parser.parse_args()
    if not data.directory().is_dir():
        raise SystemExit(f"no traces in {data.directory()}: set SCHEDMATE_DATA")
    started = time.monotonic()
    for name in arguments.sets:
        report(name, fast=arguments.fast)
    print(f"\n{time.monotonic() - started:.0f} s on {platform.machine()}, pinball of log seconds")


if __name__ == "__main__":
    main()
