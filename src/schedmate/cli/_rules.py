"""What the verbs of `schedmate rules` share: finding rules, and showing them."""

from __future__ import annotations

import getpass
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from schedmate import config
from schedmate.cli._common import console, echo, print_json
from schedmate.cli._logs import check_names, check_readable, find_logs
from schedmate.handler import RULES
from schedmate.handler.learning import Trial, try_rules
from schedmate.model import BadInput, NotFound
from schedmate.model.account import account_name
from schedmate.model.lessons import LearnedRule, Origin, PastFailure
from schedmate.model.wire import to_json
from schedmate.service.usecases.audit import record_act
from schedmate.service.usecases.persons_decisions import forget_correction
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from schedmate.cli._table import Column
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store

SCHEMA = "schedmate.rules/1"
_LINE = 100


def open_experience() -> Store:
    return open_store(config.load())


def viewer() -> Viewer:
    return viewer_of(config.load())


def person() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        return "another user"


def origin_here(*, about: str, note: str = "", owner: str = "") -> Origin:
    """`owner` is whose log the line is from; a line given by hand is the person's own."""
    return Origin(
        teacher="operator",
        by=person(),
        about=about,
        at=time.time(),
        note=note,
        owner=owner or account_name(),
    )


def learned(store: Store, rule_id: str) -> LearnedRule:
    found = next((rule for rule in store.learned_rules() if rule.id == rule_id), None)
    if found is None:
        raise NotFound(f"no learned rule is called {rule_id!r} (see: schedmate rules list)")
    return found


def proposal(store: Store, rule_id: str) -> LearnedRule:
    found = learned(store, rule_id)
    if not found.proposed:
        state = _state(found)
        raise BadInput(f"{rule_id} is no proposal, it is {state} (see: schedmate rules list)")
    return found


def proposals(store: Store) -> list[LearnedRule]:
    return [rule for rule in store.learned_rules() if rule.proposed]


def corrections(store: Store) -> list[PastFailure]:
    return list(store.past_failures(teacher="operator", limit=10_000))


def record(store: Store, action: str, about: str, detail: str = "") -> None:
    """In the audit trail; why a rule was refused may quote a log, and is cut."""
    record_act(store, action, about, viewer().refusal(detail), user=person())


def disabled(store: Store, rule_id: str) -> LearnedRule:
    rule = replace(learned(store, rule_id), enabled=False)
    store.keep_rule(rule)
    record(store, "disable a rule", f"rule {rule_id}")
    return rule


def remove(store: Store, wanted: str) -> list[str]:
    """A correction takes the rule that was made of it with it."""
    removed = _removed(store, wanted)
    record(store, "remove a rule", f"rule {wanted}", ", ".join(removed))
    return removed


def _removed(store: Store, wanted: str) -> list[str]:
    past = next((one for one in corrections(store) if one.id == wanted), None)
    if past is None:
        learned(store, wanted)
        store.remove_rule(wanted)
        return [wanted]
    return forget_correction(store, past)


def as_data(store: Store, only: str | None) -> dict[str, Any]:
    sees = viewer()
    taught = {
        "rules": [to_json(rule) for rule in sees.rules(store.learned_rules()) if not rule.proposed],
        "proposals": [to_json(rule) for rule in sees.rules(proposals(store))],
        "corrections": [to_json(past) for past in sees.failures(corrections(store))],
    }
    built_in = {"built_in": [_built_in(number) for number in range(len(RULES))]}
    return {} | (taught if only != "built_in" else {}) | (built_in if only != "learned" else {})


def described(store: Store, wanted: str) -> dict[str, Any]:
    """A built-in rule, a learned one or a correction, by its id."""
    sees = viewer()
    taught: list[LearnedRule | PastFailure] = [
        *sees.rules(store.learned_rules()),
        *sees.failures(corrections(store)),
    ]
    for one in taught:
        if one.id == wanted:
            return dict(to_json(one))
    for number, rule in enumerate(RULES):
        if rule.id == wanted:
            return _built_in(number)
    raise NotFound(f"nothing is called {wanted!r} (see: schedmate rules list)")


def _built_in(number: int) -> dict[str, Any]:
    rule = RULES[number]
    return {
        "id": rule.id,
        "reason": rule.reason,
        "pattern": None if rule.pattern is None else rule.pattern.pattern,
        "confidence": rule.confidence,
        "positives": [text for text in rule.positives if isinstance(text, str)],
        "negatives": [text for text in rule.negatives if isinstance(text, str)],
    }


def show_learned(store: Store) -> None:
    sees = viewer()
    rules = sees.rules(store.learned_rules())
    corrected = sees.failures(corrections(store))
    if not rules and not corrected:
        echo("nothing is learnt yet; the built-in rules: --built-in", err=True)
        return
    waiting = [rule for rule in rules if rule.proposed]
    if corrected or len(waiting) < len(rules):
        _show_in_force(corrected, [rule for rule in rules if not rule.proposed])
    if waiting:
        _show_proposals(waiting)


def _show_in_force(corrected: Sequence[PastFailure], rules: Sequence[LearnedRule]) -> None:
    from schedmate.cli._table import Column

    columns = (
        *(Column("ID"), Column("REASON"), Column("BY", cut=8, spared=1), Column("WHEN", spared=2)),
        *(Column("STATE"), Column("HITS", number=True, spared=3), Column("LINE", folds=True)),
    )
    rows = [
        (
            *(past.id, past.reason, past.origin.by, _day(past.origin.at)),
            *("correction", "-", past.line[:_LINE]),
        )
        for past in corrected
    ]
    for rule in rules:
        by = rule.origin.by or rule.origin.teacher
        about = (rule.id, rule.reason, by, _day(rule.origin.at), _state(rule), str(rule.hits))
        rows.append((*about, rule.positives[0][:_LINE]))
    _print(columns, rows)


def _show_proposals(rules: Sequence[LearnedRule]) -> None:
    """Where each came from, and the pattern that it would match."""
    from schedmate.cli._table import Column

    echo("proposed by a model, applied by nothing (schedmate rules accept ID, or refuse ID):")
    columns = (
        *(Column("ID"), Column("REASON"), Column("BY", cut=8, spared=1), Column("WHEN", spared=2)),
        *(Column("FROM", cut=11), Column("LINE", folds=True)),
    )
    rows = []
    for rule in rules:
        origin, line = rule.origin, rule.positives[0][:_LINE]
        row = (rule.id, rule.reason, origin.by or "model", _day(origin.at), origin.about, line)
        rows += [row, ("", "", "", "", "would match", rule.pattern)]
    _print(columns, rows)


def show_built_in() -> None:
    from schedmate.cli._table import Column

    columns = (Column("ID"), Column("CONFIDENCE", spared=1), Column("EXAMPLE", folds=True))
    rows = []
    for rule in RULES:
        texts = [text for text in rule.positives if isinstance(text, str)]
        example = texts[0].partition("\n")[0] if texts else "(the state that the scheduler reports)"
        rows.append((rule.id, f"{rule.confidence:g}", example[:_LINE]))
    _print(columns, rows)


def show_one(found: dict[str, Any]) -> None:
    for name, value in found.items():
        for number, line in enumerate(_plain(value)):
            echo(f"{'' if number else name:<14} {line}")


def _plain(value: Any) -> list[str]:
    match value:
        case dict():
            parts = {**value, "at": _day(value["at"])} if "at" in value else value
            return [f"{name} {part}" for name, part in parts.items() if part]
        case list():
            return [str(one) for one in value]
    return [] if value in ("", None) else [str(value)]


def sentence(rule: LearnedRule) -> str:
    rule = viewer().rule(rule)
    if rule.refused:
        return f"{rule.id} ({rule.reason}) is refused: {rule.refused}"
    checked = f"checked against {rule.healthy_logs} healthy logs"
    return f"{rule.id} ({rule.reason}) is {_state(rule)}, {checked}: {rule.pattern}"


def tell(rules: Sequence[LearnedRule], *, as_json: bool) -> int:
    """Print the rules as they are kept now; 1 when one of them was refused."""
    if as_json:
        sees = viewer()
        print_json({"schema": SCHEMA, "rules": [to_json(sees.rule(rule)) for rule in rules]})
    else:
        for rule in rules:
            echo(sentence(rule))
    return 1 if any(rule.refused for rule in rules) else 0


def tried(store: Store, targets: Sequence[str], *, every: bool, seconds: float) -> list[Trial]:
    rules = [r for r in store.learned_rules() if not r.refused] if every else []
    if not every:
        rules, targets = [learned(store, targets[0])], targets[1:]
    check_names(targets)
    logs = [path for target in targets for path in find_logs(target)]
    check_readable(logs)
    with bar("healthy logs") as on_log:
        trials = try_rules(rules, logs, store, seconds=seconds, on_log=on_log)
    sees, whose = viewer(), {rule.id: rule.origin.owner for rule in rules}
    return [one if sees.may_read(whose[one.rule]) else replace(one, missed=()) for one in trials]


def show_trials(trials: Sequence[Trial]) -> None:
    for trial in trials:
        read = f"{trial.healthy_logs} of {trial.of} healthy logs"
        echo(f"{trial.rule}: {'ok' if trial.ok else 'NOT OK'}, tried on {read}")
        for line in trial.missed:
            echo(f"  misses its own example: {line}")
        for line in trial.found:
            echo(f"  found {line}")
        if trial.caught:
            echo(f"  {trial.caught}; disable it: schedmate rules disable {trial.rule}")
    if not trials:
        echo("there is no learned rule to test", err=True)


@contextmanager
def bar(title: str) -> Iterator[Callable[[int, int], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    talk = console(stderr=True)
    columns = (title, BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=talk, disable=not talk.is_terminal, transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _state(rule: LearnedRule) -> str:
    if rule.refused:
        return "refused"
    if rule.proposed:
        return "proposed"
    return "enabled" if rule.enabled else "disabled"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d")


def _print(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from schedmate.cli._console import cell
    from schedmate.cli._table import fitted_table

    screen = console()
    cells = [[cell(text) for text in row] for row in rows]
    screen.print(fitted_table(columns, cells, screen.width))
