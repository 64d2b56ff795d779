"""What a language model adds to reading a job, and what it costs, on the same jobs.

    python -m bench.accuracy.advice_model --clones DIR                # by answers that are stored
    python -m bench.accuracy.advice_model --clones DIR --url URL      # by a model at an endpoint
    python -m bench.accuracy.advice_model --clones DIR --embedded     # and the embedded model
    python -m bench.accuracy.advice_model DIRS --only NAME --show     # other cases, field by field

`partner`: no model. `model alone`: it gets the command and the names of the files, and reads for
itself, as in the paper. `partner + model`: it gets the slice of the job and answers with a diff of
the record. `no reads`: the same, but it must answer at once. `no votes`: no second sample. Tokens
are those of all questions about a job: characters of request and answer by four where the endpoint
does not count. Jobs that a method has no answer for are left out of every row.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.accuracy.advice_alone import record_alone
from bench.accuracy.advice_score import Score, Verdict, score_record
from bench.accuracy.model_failures import asker_at
from bench.cassettes import ANSWERS, read_cassettes, replaying
from bench.command import command_line, console, model_in_use, table
from bench.corpora.advice_cases import UNSEEN, LabelledJob, read_cases
from schedmate.advisor import Target
from schedmate.advisor.agent import Agent, ModelPointer
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.record_agent import RecordAgent
from schedmate.advisor.understand.read_job import Completer
from schedmate.advisor.understand.reading import understand
from schedmate.model import Asker, Cost, ModelError, Subject, Workload
from schedmate.testing.history import MemoryHistory

_COLUMNS = (
    *("method", "jobs", "stated fields", "right", "wrong", "missing", "invented"),
    *("evidence right", "tokens p50", "tokens p90", "questions", "s a job"),
)
_VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "missing", "invented")
Method = Callable[[Target], tuple[Workload, Cost]]


@dataclass(frozen=True, slots=True)
class Outcome:
    scores: Sequence[Score]
    cost: Cost
    seconds: float


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("dirs", nargs="*", type=Path, help="where the labelled jobs are")
    parser.add_argument("--clones", type=Path, help="where clones of public repositories are")
    parser.add_argument("--only", default="", metavar="NAME", help="jobs with NAME in their name")
    parser.add_argument("--most", type=int, metavar="N", help="at most N jobs")
    parser.add_argument("--url", help="a /v1 of a model that reads, in place of stored answers")
    parser.add_argument("--answers", type=Path, default=ANSWERS / "advice.jsonl.gz")
    parser.add_argument("--embedded", action="store_true", help="and the embedded model")
    parser.add_argument("--ablations", action="store_true", help="and without reads, without votes")
    parser.add_argument("--show", action="store_true", help="every fault")
    arguments = parser.parse_args()
    cases = [
        case for case in read_cases(*(arguments.dirs or [UNSEEN])) if arguments.only in case.name
    ]
    with _asker(arguments.url, arguments.answers) as asker:
        methods = _methods(asker, embedded=arguments.embedded, ablations=arguments.ablations)
        found = _run(cases[: arguments.most], methods, arguments.clones)
    _print_table(found, list(methods))
    for name, by_method in found.items() if arguments.show else ():
        for method, outcome in by_method.items():
            _print_faults(name, method, outcome)


@contextmanager
def _asker(url: str | None, answers: Path) -> Iterator[Asker]:
    if url:
        yield asker_at(url, "read", "relay")
        return
    if not answers.exists():
        sys.exit(f"no answers in {answers}: name a model with --url")
    with replaying(read_cassettes(answers)) as base_url:
        yield asker_at(base_url, "read", "relay")


def _methods(asker: Asker, *, embedded: bool, ablations: bool) -> dict[str, Method]:
    def partner(target: Target) -> tuple[Workload, Cost]:
        return _read(target, None)

    def with_model(target: Target, *, turns: int = 4, votes: bool = True) -> tuple[Workload, Cost]:
        memory, about = MemoryHistory(), Subject(user=target.user)
        agent = RecordAgent(asker, memory, target.command, about, turns=turns, votes=votes)
        return _read(target, agent)

    methods: dict[str, Method] = {"partner": partner}
    if embedded:
        small = model_in_use()
        methods["embedded"] = lambda target: _read(target, Agent(ModelPointer(small)))
    methods["model alone"] = lambda target: record_alone(asker, target)
    methods["partner + model"] = with_model
    if ablations:
        methods["no reads"] = lambda target: with_model(target, turns=1)
        methods["no votes"] = lambda target: with_model(target, votes=False)
    return methods


def _read(target: Target, completer: Completer | None) -> tuple[Workload, Cost]:
    understood, _ = understand(resolve(target), target.files, target.request, completer)
    if completer is not None and completer.problem is not None:
        raise completer.problem
    return understood.workload, Cost() if completer is None else completer.cost


def _run(
    cases: Sequence[LabelledJob], methods: Mapping[str, Method], clones: Path | None
) -> dict[str, dict[str, Outcome]]:
    """All at once: whoever answers may take the questions in any order."""
    with ThreadPoolExecutor(max(1, len(cases) * len(methods))) as pool:
        pending = {
            (case.name, name): pool.submit(_outcome, case, method, clones)
            for case in cases
            for name, method in methods.items()
        }
        done = {key: future.result() for key, future in pending.items()}
    found: dict[str, dict[str, Outcome]] = {}
    for case in cases:
        outcomes = {name: done[case.name, name] for name in methods}
        left_out = [name for name, each in outcomes.items() if each is None]
        if left_out:
            console().print(f"{case.name} left out: no answer of {', '.join(left_out)}")
        else:
            found[case.name] = {name: each for name, each in outcomes.items() if each is not None}
    return found


def _outcome(case: LabelledJob, method: Method, clones: Path | None) -> Outcome | None:
    with case.unpacked(clones) as files:
        if files is None:
            return None
        started = time.perf_counter()
        try:
            workload, cost = method(case.label.target(files))
        except ModelError as problem:
            console().print(f"{case.name}: {problem}", markup=False)
            return None
        return Outcome(score_record(case, workload), cost, time.perf_counter() - started)


def _print_table(found: Mapping[str, Mapping[str, Outcome]], methods: Sequence[str]) -> None:
    shown = table("fields of the workload record", _COLUMNS)
    for name in methods:
        shown.add_row(name, *_row([outcomes[name] for outcomes in found.values()]))
    console().print(shown)


def _row(outcomes: Sequence[Outcome]) -> list[str]:
    scores = [score for each in outcomes for score in each.scores]
    count = Counter(score.verdict for score in scores)
    stated = count["right"] + count["wrong"] + count["missing"]
    unstated = count["invented"] + count["absent"]
    right = [score for score in scores if score.verdict == "right"]
    tokens = sorted(each.cost.llm_tokens for each in outcomes) or [0]
    return [
        str(len(outcomes)),
        str(stated),
        *(f"{100 * count[verdict] / max(1, stated):.1f} %" for verdict in _VERDICTS[:3]),
        f"{count['invented']} of {unstated}",
        f"{100 * sum(score.shown for score in right) / max(1, len(right)):.1f} %",
        f"{statistics.median(tokens):.0f}",
        f"{tokens[int(0.9 * (len(tokens) - 1))]}",
        str(sum(each.cost.llm_calls for each in outcomes)),
        f"{sum(each.seconds for each in outcomes) / max(1, len(outcomes)):.2f}",
    ]


def _print_faults(case: str, method: str, outcome: Outcome) -> None:
    for score in outcome.scores:
        if score.verdict in ("wrong", "missing", "invented"):
            text = f"{score.verdict}: {score.found!r} ({score.source}, {score.at})"
            console().print(
                f"  {case}, {method}: {score.field} {text}, expected {score.expected!r}",
                markup=False,
                soft_wrap=True,
            )


if __name__ == "__main__":
    main()
