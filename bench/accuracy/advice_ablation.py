"""What each reader of the advisor is good for: every one dropped in turn, over the labelled jobs.

    python -m bench.accuracy.advice_ablation --clones DIR            # frameworks, readers, rules
    python -m bench.accuracy.advice_ablation --clones DIR --options  # and ways to declare options
    python -m bench.accuracy.advice_ablation --only NAME             # jobs with NAME in their name

A job is interpreted once, and settled again without the claims of one reader; without a way to
declare options it is interpreted again. What moves no labelled job becomes a row of data, gets a
labelled job, or goes. "lost" are fields that are right only with it, "spoilt" those that are right
without it; the lines of a value count as well.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.accuracy.advice_score import Score, score_record
from bench.command import command_line, console, progress, table
from bench.corpora.advice_cases import BLIND, HELD_OUT, OWN, PUBLIC, LabelledJob, read_cases
from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.claims import READERS, claims_by_reader
from schedmate.advisor.frameworks.index import SIGNS
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.launch.run import Launch
from schedmate.advisor.options import MODELS, WRAPPERS
from schedmate.advisor.settle import settling
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.understand.reading import read_code, settled_record
from schedmate.model import Request, Workload

Key = tuple[str, str]


@dataclass
class Effect:
    lost: int = 0
    spoilt: int = 0
    jobs: set[str] = field(default_factory=set)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("dirs", nargs="*", type=Path, help="where the labelled jobs are")
    parser.add_argument("--clones", type=Path, help="where clones of public repositories are")
    parser.add_argument("--only", default="", metavar="NAME", help="jobs with NAME in their name")
    parser.add_argument("--options", action="store_true", help="and ways to declare options")
    arguments = parser.parse_args()
    directories = arguments.dirs or [OWN, PUBLIC, BLIND, HELD_OUT]
    cases = [case for case in read_cases(*directories) if arguments.only in case.name]
    if not cases:
        sys.exit("no cases: a case is a directory with case.toml and job/, or a .toml")
    effects: defaultdict[str, Effect] = defaultdict(Effect)
    for name in parts(options=arguments.options):
        effects[name] = Effect()
    read = 0
    for case in progress(cases, "jobs"):
        with case.unpacked(arguments.clones) as files:
            if files is not None:
                read += 1
                ablate(case, files, effects, options=arguments.options)
    _print(effects, read)


def parts(*, options: bool) -> Iterator[str]:
    """Everything that is dropped in turn."""
    yield from dict.fromkeys(f"framework {signs.module}" for signs in SIGNS if signs.module)
    yield from (f"reader {reader.__name__}" for reader in READERS)
    yield from (f"rule {rule.__name__}" for rule in settling.RULES)
    yield "names"
    if options:
        yield from (f"options {name}" for name in _declared())


def _declared() -> dict[str, set[str]]:
    """The modules of ways to declare options, with the calls that they are models of."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    known: Mapping[str, Callable[..., object]] = {**MODELS, **WRAPPERS}
    for name, model in known.items():
        found[model.__module__.rpartition(".")[2]].add(name)
    return dict(sorted(found.items()))


def ablate(
    case: LabelledJob, directory: Path, effects: dict[str, Effect], *, options: bool
) -> None:
    target = case.label.target(directory)
    launch = resolve(target)
    files = replace(target.files, written=launch.written)
    found = read_code(launch, files)
    if found is None:
        return
    reading = found[0]
    claims = list(claims_by_reader(reading))

    def without(name: str) -> Workload:
        kept = (claim for reader, claim in claims if reader != name)
        return settled_record(launch, reading, Request(), kept)

    whole = _scores(case, without(""))
    for name in dict.fromkeys(reader for reader, _ in claims):
        _compare(effects[name], whole, _scores(case, without(name)))
    _compare(effects["names"], whole, _scores(case, _without_names(launch, reading, claims)))
    for rule in settling.RULES:
        kept, settling.RULES = settling.RULES, tuple(r for r in settling.RULES if r is not rule)
        _compare(effects[f"rule {rule.__name__}"], whole, _scores(case, without("")))
        settling.RULES = kept
    if options:
        for name, calls in _declared().items():
            models = {call: model for call, model in MODELS.items() if call not in calls}
            wrappers = {call: model for call, model in WRAPPERS.items() if call not in calls}
            again = read_code(launch, files, models=models, wrappers=wrappers)
            assert again is not None
            record = settled_record(
                launch, again[0], Request(), (claim for _, claim in claims_by_reader(again[0]))
            )
            _compare(effects[f"options {name}"], whole, _scores(case, record))


def _without_names(launch: Launch, reading: Reading, claims: list[tuple[str, Claim]]) -> Workload:
    """Without what options and names in the code are called."""
    trace = replace(reading.trace, options=[], bindings=[], calls=[])
    bare = replace(reading, trace=trace)
    return settled_record(launch, bare, Request(), (claim for _, claim in claims))


def _scores(case: LabelledJob, workload: Workload) -> dict[Key, Score]:
    return {(each.case, each.field): each for each in score_record(case, workload)}


def _compare(effect: Effect, whole: Mapping[Key, Score], ablated: Mapping[Key, Score]) -> None:
    for key, score in whole.items():
        before, after = _points(score), _points(ablated[key])
        effect.lost += before > after
        effect.spoilt += before < after
        if before != after:
            effect.jobs.add(key[0])


def _points(score: Score) -> int:
    """Right with its line, right, nothing, wrong or invented."""
    if score.verdict in ("wrong", "invented"):
        return 0
    if score.verdict == "right":
        return 3 if score.shown else 2
    return 1


def _print(effects: Mapping[str, Effect], read: int) -> None:
    summary = table(f"without it, over {read} labelled jobs", ("part", "lost", "spoilt", "jobs"))
    for name, effect in sorted(effects.items(), key=lambda each: each[1].spoilt - each[1].lost):
        if effect.jobs:
            row = (effect.lost, effect.spoilt, len(effect.jobs))
            summary.add_row(name, *(str(number or "") for number in row))
    screen = console()
    screen.print(summary)
    idle = [name for name, effect in effects.items() if not effect.jobs]
    screen.print(f"{len(idle)} of {len(effects)} move no labelled job: {', '.join(idle) or 'none'}")


if __name__ == "__main__":
    main()
