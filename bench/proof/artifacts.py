"""Our schedulers of the literature against their authors' simulators, and what records are worth.

    python -m bench.proof.artifacts                       # both tables, a few minutes
    python -m bench.proof.artifacts --only references     # the first alone
    SCHEDMATE_ARTIFACTS=DIR python -m bench.proof.artifacts   # DIR has a clone of Lucid's artifact

**References**: average completion times in seconds, as the authors' simulators give them and as
ours does on the same jobs and the same cluster; what the traces are and what was set is in
bench/proof/reference_runs. `ours / reference` is to lie within 10 %.

**Records**: Lucid (profiling charged) and Sia alone, and the same answered by SchedMate's records
or by a control in their place: average completion time alone over with answers, of windows of the
development clusters (bench/proof/settings.py). How a job scales is for each what its own source
knows of it: of neighbours by SchedMate's records, of another job where they are permuted, of the
owner's earlier jobs by `history`, the same of all by `constant`.
"""

from __future__ import annotations

import time
import tomllib
from typing import Any

from bench.command import command_line, console, machine, progress, table
from bench.proof.asking_schedulers import show
from bench.proof.measuring import Case, measured
from bench.proof.predictions import revision
from bench.proof.reference_runs import TRACES
from bench.proof.reference_runs.lucid import AS_IT_COMES
from bench.proof.reference_runs.running import KEPT, NotHere
from bench.proof.settings import Window, all_sites

_WITHIN = 0.1
RECORDS = ("constant", "permuted", "history", "semantic", "oracle")
PARTS = {"lucid": ("+advisor", "+advisor+tracker"), "sia": ("+advisor",)}
SHAKES = {"lucid": 3, "sia": 1}
"""Runs of each, with submissions shaken; of Sia, which searches for a plan every minute, one."""
Figures = dict[str, float]


def references() -> dict[str, dict[str, Any]]:
    return tomllib.loads((KEPT / "references.toml").read_text(encoding="utf-8"))


def figures_of(reference: dict[str, Any]) -> Figures:
    return {name: value for name, value in reference.items() if isinstance(value, float)}


def compared(name: str, reference: dict[str, Any]) -> tuple[Figures, list[str]]:
    """What ours takes under each policy, and what keeps it from being run."""
    found: Figures = {}
    missing: list[str] = []
    asked = list(figures_of(reference))
    try:
        average = TRACES[name]()
    except NotHere as why:
        return {}, [str(why)]
    for policy in [*asked, *([AS_IT_COMES] if "lucid" in asked else [])]:
        try:
            found[policy] = average(policy)
        except NotHere as why:
            missing.append(str(why))
    return found, missing


def show_references() -> bool:
    """Whether all that could be run is within the bound."""
    made = table(
        "average completion time, seconds",
        ("trace", "policy", "reference", "ours", "ours / reference", "x fifo there", "x fifo here"),
    )
    missing: set[str] = set()
    within = True
    for name, reference in progress(list(references().items()), "traces"):
        ours, absent = compared(name, reference)
        missing.update(absent)
        theirs = figures_of(reference)
        for policy, seconds in ours.items():
            there = theirs.get(policy)
            within &= there is None or abs(seconds / there - 1.0) <= _WITHIN
            made.add_row(
                reference["trace"] if policy == next(iter(ours)) else "",
                policy,
                "-" if there is None else f"{there:,.0f}",
                f"{seconds:,.0f}",
                "-" if there is None else f"{seconds / there:.3f}",
                _gain(theirs, policy),
                _gain(ours, policy),
            )
    console().print(made)
    for why in sorted(missing):
        print(f"not run: {why}")
    print("all within 10 %" if within else "NOT all within 10 %")
    return within


def _gain(seconds: Figures, policy: str) -> str:
    if "fifo" not in seconds or policy not in seconds:
        return "-"
    return f"{seconds['fifo'] / seconds[policy]:.2f}"


def show_records(policy: str, jobs: int, seeds: list[int]) -> None:
    cases = [
        Case(
            window=Window(site=site.name, seed=seed, jobs=jobs),
            policies=(policy,),
            parts=PARTS[policy],
            predictors=RECORDS,
            shakes=SHAKES[policy],
        )
        for site in all_sites()
        if not site.held_out
        for seed in seeds
    ]
    rows = [row for case in progress(cases, f"windows, {policy}") for row in measured(case)]
    show(rows, list(RECORDS))


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--only", choices=("references", "records"))
    parser.add_argument("--policies", default=",".join(PARTS), help="with records")
    parser.add_argument("--jobs", type=int, default=300, help="of a window")
    parser.add_argument("--seeds", default="0", help="windows of each cluster: 0,1,2,3,4")
    asked = parser.parse_args()
    began = time.monotonic()
    within = asked.only == "records" or show_references()
    if asked.only != "references":
        for policy in asked.policies.split(","):
            show_records(policy, asked.jobs, [int(seed) for seed in asked.seeds.split(",")])
    print(f"revision {revision()}; {time.monotonic() - began:.0f} s on {machine()}")
    if not within:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
