"""What a model adds to reading: nothing, one that always points right, the model in use.

    python -m bench.accuracy.advice_model                     # without, and perfect pointers
    python -m bench.accuracy.advice_model --clones DIR --llm  # public jobs and the model in use
    python -m bench.accuracy.advice_model --llm --most 12     # asks it about twelve jobs only
    python -m bench.accuracy.advice_model --show              # what each of them was asked

The perfect pointers know the labels: they are what the best model could add by answering the same
questions, one by choosing among the values in sight, one that also looks around in the files.
The second table has only jobs that leave a question open.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.accuracy.advice_score import Score, Verdict, same, score_record
from bench.command import command_line, console, model_in_use, progress, table
from bench.corpora.advice_cases import BLIND, HELD_OUT, OWN, PUBLIC, Label, LabelledJob, read_cases
from schedmate.advisor import Target
from schedmate.advisor.agent import Agent, ModelPointer
from schedmate.advisor.agent.gaps import Choice, Gap, Pointed, Pointer
from schedmate.advisor.agent.steps import Statement, Step
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
from schedmate.model import ModelError, Workload

_COLUMNS = ("pointer", "jobs", "right", "wrong", "missing", "invented", "questions", "s a job")
_VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "missing", "invented")


@dataclass(slots=True)
class PerfectPointer:
    """Chooses what the label says, and nothing where no choice is right."""

    label: Label

    def point(self, job: str, known: Workload, gaps: Sequence[Gap]) -> Mapping[str, Pointed]:  # noqa: ARG002 - it knows more
        right = {gap.key: self._right(gap) for gap in gaps}
        return {key: Pointed(choice, 2) for key, choice in right.items() if choice is not None}

    def _right(self, gap: Gap) -> Choice | None:
        expected = self.label.expected.get("entry_point" if gap.key == "program" else gap.key)
        if expected is not None:
            wanted = (expected.value, *expected.accept)
            right = (
                each
                for each in gap.choices
                if any(same(gap.key, each.value, one) for one in wanted)
            )
            return next(right, None)
        lines = {line for each in self.label.expected.values() for line in each.at}
        files = {line.rpartition(":")[0] for line in lines}
        if gap.key == "config":
            return next((each for each in gap.choices if each.value in files), None)
        if gap.key == "branch":
            shown = (f"{each.line.file}:{each.line.line}" for each in gap.choices)
            hits = [each for each, at in zip(gap.choices, shown, strict=True) if at in lines]
            return hits[0] if len(hits) == 1 else None
        return None


@dataclass(slots=True)
class Recording:
    """Passes questions on, and counts them."""

    pointer: Pointer
    asked: list[str]

    def point(self, job: str, known: Workload, gaps: Sequence[Gap]) -> Mapping[str, Pointed]:
        answers = self.pointer.point(job, known, gaps)
        for gap in gaps:
            chosen = answers.get(gap.key)
            self.asked.append(f"{gap.key}: {'none' if chosen is None else chosen.choice.shown}")
        return answers


@dataclass(slots=True)
class Outcome:
    scores: list[Score]
    asked: list[str]
    seconds: float
    problem: ModelError | None = None


Make = Callable[[LabelledJob], Agent | None]


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--clones", type=Path, help="where clones of public repositories are")
    parser.add_argument("--llm", action="store_true", help="and with the language model in use")
    parser.add_argument("--most", type=int, help="jobs that the model is asked about", metavar="N")
    parser.add_argument("--show", action="store_true", help="every question and its answer")
    arguments = parser.parse_args()
    cases = read_cases(OWN, PUBLIC, BLIND, HELD_OUT)
    agents: dict[str, Make] = {
        "none": lambda _: None,
        "perfect": lambda case: Agent(PerfectPointer(case.label)),
        "perfect, looks around": _explorer,
    }
    found = _run(cases, agents, arguments.clones)
    asked = [case for case in cases if case.name in found and found[case.name]["perfect"].asked]
    _print_tables(found, {case.name for case in asked})
    if arguments.llm:
        asker = model_in_use()
        every = max(1, len(asked) // (arguments.most or len(asked) or 1))
        some = asked[::every][: arguments.most]
        agents["the model in use"] = lambda _: Agent(ModelPointer(asker))
        found = _run(some, agents, arguments.clones)
        _print_tables(found, {case.name for case in some})
    for case, by_agent in found.items() if arguments.show else ():
        for name, each in by_agent.items():
            console().print(f"{case}, {name}: {'; '.join(each.asked)}", markup=False)


def _explorer(case: LabelledJob) -> Agent:
    expected = case.label.expected
    answers = [
        Statement(field=name, value=str(one), file=file, line=int(line))
        for name, each in expected.items()
        for at in each.at
        for file, _, line in [at.rpartition(":")]
        for one in (each.value, *each.accept)
    ]
    step = Step.model_construct(step="answer", argument="", answers=answers)
    return Agent(PerfectPointer(case.label), lambda _: step, steps=1)


def _run(
    cases: Sequence[LabelledJob], agents: Mapping[str, Make], clones: Path | None
) -> dict[str, dict[str, Outcome]]:
    found: dict[str, dict[str, Outcome]] = {}
    for case in progress(cases, "jobs"):
        with case.unpacked(clones) as files:
            if files is not None:
                target = case.label.target(files)
                found[case.name] = {
                    name: _outcome(case, target, make(case)) for name, make in agents.items()
                }
    return found


def _outcome(case: LabelledJob, target: Target, agent: Agent | None) -> Outcome:
    asked: list[str] = []
    if agent is not None:
        agent.pointer = Recording(agent.pointer, asked)
    started = time.perf_counter()
    understood, _ = understand(resolve(target), target.files, target.request, agent)
    seconds = time.perf_counter() - started
    problem = None if agent is None else agent.problem
    return Outcome(score_record(case, understood.workload), asked, seconds, problem)


def _print_tables(found: Mapping[str, Mapping[str, Outcome]], asked: set[str]) -> None:
    for title, wanted in (("all", {*found}), ("jobs with gaps", asked)):
        shown = table(f"fields of the workload record: {title}", _COLUMNS)
        for name in next(iter(found.values()), {}):
            shown.add_row(name, *_row([found[case][name] for case in wanted]))
        console().print(shown)
    for case, by_agent in found.items():
        for name, each in by_agent.items():
            if each.problem is not None:
                console().print(f"{case}, {name}: {each.problem}", markup=False)


def _row(outcomes: Sequence[Outcome]) -> list[str]:
    count = Counter(score.verdict for each in outcomes for score in each.scores)
    jobs = max(1, len(outcomes))
    return [
        str(len(outcomes)),
        *(str(count[verdict]) for verdict in _VERDICTS),
        str(sum(len(each.asked) for each in outcomes)),
        f"{sum(each.seconds for each in outcomes) / jobs:.2f}",
    ]


if __name__ == "__main__":
    main()
