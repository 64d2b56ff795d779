"""What a language model adds on failures that the rules leave open.

    python -m bench.accuracy.model_diagnoses                    # the fresh cases, the model in use
    python -m bench.accuracy.model_diagnoses --set held-out
    python -m bench.accuracy.model_diagnoses --no-model         # without asking any

The model chooses among the explanations that the rules leave. Beside it stand the rules alone, the
first of the explanations, and a chooser that always takes the right one if it is offered: the most
that any model could add. The model is the configured endpoint (`llm.base_url`) or the embedded one.
`--taught` teaches a fresh memory one answer of another site to a similar failure first.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.command import command_line, model_in_use
from bench.corpora.open_failures import FRESH, HELD_OUT, TUNED
from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.model_reading import Reading, fits
from schedmate.model import Answer, Asker, Cost, Diagnosis, ModelError, Tier
from schedmate.model.lessons import Origin
from schedmate.store.sqlite import SqliteStore

_SETS = {"fresh": FRESH, "held-out": HELD_OUT, "tuned": TUNED}
TAUGHT = (
    ("disk_quota", "your team has used up all 4.0 TB granted on /work, remove something"),
    ("gpu_oom", "planner: the activations need 60 GB, the card has 40 GB"),
    ("checkpoint_corrupt", "snapshot step-20 ends in the middle of tensor 3"),
    ("storage_io", "reader: the parallel file system returned garbage for block 9"),
    ("host_oom", "indexer: main memory is used up (250 of 256 GiB)"),
)


class _Chooser:
    """Takes the wanted reason if it is offered, or always the first one."""

    tier: Tier = "choose"

    def __init__(self, wanted: str | None) -> None:
        self._wanted = wanted

    def ask(self, schema: type[Any], prompt: str, **_: object) -> Answer[Any]:  # noqa: ARG002
        fields = schema.model_json_schema()["properties"]
        reasons, lines = _listed(fields["reason"]), _listed(fields["line"])
        reason = reasons[0] if self._wanted is None else self._wanted
        chosen = reason if reason in reasons else "unknown"
        line = next((line for line in lines if fits(chosen, line)), lines[0])
        return Answer(Reading(line=line, reason=chosen), Cost(llm_calls=1))


def _listed(field: dict[str, Any]) -> list[str]:
    return field.get("enum") or [field["const"]]


def main() -> None:
    options = _options()
    asker = None if options.no_model else model_in_use()
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    print(
        f"{'wanted':<20} {'rules':<20} {'first':<20} {'perfect':<20} {'model':<20} {'seconds':>7}"
    )
    cases = _SETS[options.set]
    for wanted, log in cases:
        with tempfile.TemporaryDirectory() as folder:
            answers, took = _answers(asker, wanted, log, Path(folder), taught=options.taught)
        right.update(who for who, reason in answers.items() if reason == wanted)
        wrong.update(
            who for who, reason in answers.items() if reason not in (wanted, "unknown", "-")
        )
        shown = " ".join(f"{reason:<20}" for reason in answers.values())
        print(f"{wanted:<20} {shown} {took:7.1f}", flush=True)
    for who in ("rules", "first", "perfect", "model"):
        print(f"{who}: {right[who]} of {len(cases)} right, {wrong[who]} wrong, else open")


def _answers(
    asker: Asker | None, wanted: str, log: str, folder: Path, *, taught: bool
) -> tuple[dict[str, str], float]:
    case = Case(logs=(NamedLog("job.log", log.encode()),), exit_code=1)
    with closing(SqliteStore(folder / "store.sqlite3")) as store:
        if taught:
            _teach(store)
        rules = Handler(store).diagnose(case)
        found = {
            "rules": rules.reason,
            "first": Handler(None, _Chooser(None)).refine(case, rules).reason,
            "perfect": Handler(None, _Chooser(wanted)).refine(case, rules).reason,
        }
        begun = time.monotonic()
        found["model"] = "-" if asker is None else _asked(Handler(store, asker), case, rules)
        return found, time.monotonic() - begun


def _asked(handler: Handler, case: Case, rules: Diagnosis) -> str:
    try:
        return handler.ask_model(case, rules).reason
    except ModelError as error:
        return f"({error})"


def _teach(store: SqliteStore) -> None:
    for reason, line in TAUGHT:
        past = Case(logs=(NamedLog("past.log", f"{line}\n".encode()),), exit_code=1)
        origin = Origin(teacher="operator", by="bench", about="past.log", at=time.time())
        Handler(store).correct(past, reason, origin, make_rule=False)


def _options() -> argparse.Namespace:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--set", choices=tuple(_SETS), default="fresh")
    parser.add_argument("--no-model", action="store_true", help="without asking any")
    parser.add_argument("--taught", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
