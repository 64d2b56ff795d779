"""What a language model adds on failures: partner alone, embedded, model alone, partner + model.

    python -m bench.accuracy.model_failures                       # recorded answers, eleventh set
    python -m bench.accuracy.model_failures DIR --show
    python -m bench.accuracy.model_failures DIR --base-url http://127.0.0.1:18081/v1
    python -m bench.accuracy.model_failures --embedded            # asks the embedded model as well

All columns on the same cases. `alone` is a model as in the paper: head and tail of the log and the
list of reasons, its own decision. `partner + model`: the lines that the handler prepares, a quote
that is checked, and the decision of the table. Answers of a strong model are recorded
(`bench/corpora/answers`) and given again; `--base-url` asks an endpoint instead. Tokens are counted
as four characters each where they are given again; seconds are those of the partner.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.accuracy.failure_baselines import Answer, of_diagnosis
from bench.accuracy.failure_score import Score
from bench.accuracy.model_alone import ask_alone
from bench.cassettes import ANSWERS, read_cassettes, replaying
from bench.command import command_line, console, model_in_use, table
from bench.corpora.failure_cases import REPORTS, LabelledCase, read_cases
from schedmate.config import LlmSettings
from schedmate.handler import Handler
from schedmate.llm.asker import ModelAsker
from schedmate.llm.endpoint import ConfiguredEndpoint
from schedmate.model import Asker, Cost, ModelError, Tier
from schedmate.testing.llm import MemoryLedger

Column = Callable[[LabelledCase], tuple[Answer, Cost] | None]
_WAIT_S = 20_000.0
_AT_ONCE = 300
_TELLING = 20
"""Letters of a line that show which one it is."""


@dataclass(frozen=True, slots=True)
class Measured:
    score: Score
    cost: Cost


def main() -> None:
    options = _options()
    cases = list(read_cases(*options.directories))[: options.most]
    with ExitStack() as stack:
        columns: dict[str, Column] = {"partner alone": _partner(None)}
        if options.embedded:
            columns["partner + embedded"] = _partner(model_in_use())
        url = options.base_url or stack.enter_context(replaying(read_cassettes(*options.answers)))
        strong = asker_at(url, "read", options.model)
        columns["model alone"] = _alone(strong)
        columns["partner + model"] = _partner(strong)
        with ThreadPoolExecutor(len(columns)) as pool:  # all questions lie there at once
            found = pool.map(lambda column: _measure(column, cases), columns.values())
            measured = dict(zip(columns, found, strict=True))
    _print(measured, cases)
    if options.show:
        _print_wrong(measured)


def asker_at(url: str, tier: Tier, model: str) -> ModelAsker:
    settings = LlmSettings(
        base_url=url,
        model=model,
        deadline_s=_WAIT_S,
        read_deadline_s=_WAIT_S,
        token_budget=10**9,
        read_token_budget=10**9,
    )
    return ModelAsker(ConfiguredEndpoint(url, settings), settings, MemoryLedger(), tier)


def _partner(asker: Asker | None) -> Column:
    def answer(labelled: LabelledCase) -> tuple[Answer, Cost]:
        handler, case = Handler(asker=asker), labelled.to_case()
        diagnosis = handler.diagnose(case)
        if asker is not None:
            diagnosis = handler.ask_model(case, diagnosis)
        return of_diagnosis(diagnosis), diagnosis.cost

    return answer


def _alone(asker: Asker) -> Column:
    def answer(labelled: LabelledCase) -> tuple[Answer, Cost]:
        found, _, cost = ask_alone(asker, labelled.to_case(), labelled.text())
        return found, cost

    return answer


def _measure(column: Column, cases: Sequence[LabelledCase]) -> dict[str, Measured]:
    """By name; what could not be answered is left out."""

    def one(labelled: LabelledCase) -> tuple[str, Measured | None]:
        try:
            found = column(labelled)
        except ModelError:
            return labelled.name, None
        if found is None:
            return labelled.name, None
        answer, cost = found
        return labelled.name, Measured(Score(labelled, answer, cost.seconds), cost)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return {name: found for name, found in pool.map(one, cases) if found is not None}


def _print(measured: dict[str, dict[str, Measured]], cases: Sequence[LabelledCase]) -> None:
    names = set.intersection(*(set(found) for found in measured.values()))
    failed = [case for case in cases if not case.label.healthy and case.name in names]
    shown = table(
        f"{len(names)} of {len(cases)} cases that every column answered, {len(failed)} failed",
        ["", "reason", "decision", "key line", "healthy called failed", "tokens", "seconds"],
    )
    for name, found in measured.items():
        both = [each for key, each in found.items() if key in names]
        of_failed = [each.score for each in both if not each.score.case.label.healthy]
        healthy = [each.score for each in both if each.score.case.label.healthy]
        asked = [each for each in both if each.cost.llm_calls]
        shown.add_row(
            name,
            f"{sum(each.score.right for each in both)}",
            f"{sum(each.score.decided for each in both)}",
            f"{sum(map(_shows_cause, of_failed))} of {len(of_failed)}",
            f"{sum(score.alarmed for score in healthy)} of {len(healthy)}",
            f"{median(each.cost.llm_tokens for each in asked):.0f}" if asked else "0",
            f"{median(each.cost.seconds for each in both):.2f}" if both else "-",
        )
    console().print(shown)


def _shows_cause(score: Score) -> bool:
    """A label may quote a line with the prefix that the evidence goes without."""
    lines = [line for line in score.answer.lines or () if len(line) >= _TELLING]
    return score.shown or any(line in piece for piece in score.case.label.cause for line in lines)


def _print_wrong(measured: dict[str, dict[str, Measured]]) -> None:
    for name, found in measured.items():
        for key, each in found.items():
            if each.score.wrong:
                label, answer = each.score.case.label, each.score.answer
                wanted, said = f"{label.reason}/{label.retry}", f"{answer.named}/{answer.retry}"
                print(f"{name}: {key}: {wanted} answered as {said} ({each.score.wrong})")


def _options() -> argparse.Namespace:
    parser = command_line(__doc__, __spec__)
    parser.add_argument(
        "directories", nargs="*", type=Path, default=[REPORTS / "eleventh"], metavar="DIR"
    )
    parser.add_argument("--answers", nargs="*", type=Path, default=[ANSWERS])
    parser.add_argument("--base-url", help="ask this endpoint instead")
    parser.add_argument("--model", default="relay")
    parser.add_argument("--embedded", action="store_true")
    parser.add_argument("--most", type=int, help="only so many cases")
    parser.add_argument("--show", action="store_true", help="what each column answers wrongly")
    return parser.parse_args()


if __name__ == "__main__":
    main()
