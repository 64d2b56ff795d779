"""The event log through the decision engine once more: which decisions would differ.

With other settings the same events are replayed twice, by the settings in use and by the others;
without any the replay is held against what was decided at the time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedmate.core import Act
from schedmate.model import Action, BadInput, JobId, NotFound
from schedmate.model.wire import from_json, to_json
from schedmate.service.records.event_log import all_events, opened
from schedmate.service.wiring import engine_of, limits_of
from schedmate.store import KeptEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from schedmate.config import Settings
    from schedmate.core import DecisionEngine
    from schedmate.store import Store

_SCHEMA = "schedmate.events/1"
_Place = tuple[str, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The events that were sent to the engine, and what it decided then."""

    events: tuple[KeptEvent, ...]
    decided: tuple[Action, ...]
    act_since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One decision that one side takes otherwise, or not at all."""

    job_id: JobId
    attempt: int
    kind: str
    before: Action | None = None
    now: Action | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    schema: Literal["schedmate.replay/1"] = "schedmate.replay/1"
    against: Literal["recorded", "settings"]
    """What the replay is held against: what was decided then, or the settings in use."""
    events: int
    decisions: int
    differences: tuple[Difference, ...]


def recorded_in(store: Store) -> Recording:
    events = tuple(all_events(store))
    if not events:
        raise NotFound("the event log is empty; schedmate serve fills it")
    decided = (
        one.action
        for one in store.actions()
        if one.at >= events[0].at and not _by_a_person(one.action)
    )
    return Recording(events=events, decided=tuple(decided), act_since=store.created_at())


def _by_a_person(action: Action) -> bool:
    return action.reason is not None and action.reason.code == "by_a_person"


def recorded_by(path: Path) -> Recording:
    """What `export` has written."""
    try:
        first, *lines = [json.loads(line) for line in path.read_text().splitlines()] or [{}]
        if first.get("schema") != _SCHEMA or "act_since" not in first:
            raise BadInput(f"{path} is no event log; schedmate replay --export FILE writes one")
        return Recording(
            events=tuple(from_json(KeptEvent, line["event"]) for line in lines if "event" in line),
            decided=tuple(
                from_json(Action, line["decided"]) for line in lines if "decided" in line
            ),
            act_since=float(first["act_since"]),
        )
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} cannot be read as an event log: {error}") from error


def export(recording: Recording, path: Path) -> None:
    """One JSON object a line: a bug report that can be replayed."""
    with path.open("x") as file:
        for line in _lines(recording):
            file.write(json.dumps(line) + "\n")
    path.chmod(0o600)


def _lines(recording: Recording) -> Iterator[object]:
    yield {"schema": _SCHEMA, "act_since": recording.act_since}
    yield from ({"event": to_json(event)} for event in recording.events)
    yield from ({"decided": to_json(action)} for action in recording.decided)


def replay(
    recording: Recording,
    settings: Settings,
    others: Settings | None = None,
    *,
    on_event: Callable[[], None] = lambda: None,
) -> Replay:
    """By these settings against the record, or by `others` against these settings."""
    before: Iterable[Action] = recording.decided
    if others is not None:
        before = decisions(recording, _engine(settings, recording), on_event)
    now = decisions(recording, _engine(others or settings, recording), on_event)
    return Replay(
        against="recorded" if others is None else "settings",
        events=len(recording.events),
        decisions=len(now),
        differences=tuple(differences(before, now)),
    )


def decisions(
    recording: Recording, engine: DecisionEngine, on_event: Callable[[], None] = lambda: None
) -> list[Action]:
    """All that this engine decides; the same decision again counts once."""
    found: dict[str, Action] = {}
    for row in recording.events:
        for instruction in engine.handle(opened(row)):
            if isinstance(instruction, Act):
                found.setdefault(instruction.action.key, instruction.action)
        on_event()
    return list(found.values())


def differences(before: Iterable[Action], now: Iterable[Action]) -> Iterator[Difference]:
    """Decisions about the same attempt, of the same kind, are held against each other."""
    first, second = _by_place(before), _by_place(now)
    for place in dict.fromkeys([*first, *second]):
        old, new = first.get(place, []), second.get(place, [])
        if [_effect(one) for one in old] != [_effect(one) for one in new]:
            job_id, attempt, kind = place
            yield Difference(
                job_id=job_id,
                attempt=attempt,
                kind=kind,
                before=old[-1] if old else None,
                now=new[-1] if new else None,
            )


def _by_place(actions: Iterable[Action]) -> dict[_Place, list[Action]]:
    found: dict[_Place, list[Action]] = {}
    for action in actions:
        found.setdefault((action.job_id, action.attempt, action.kind), []).append(action)
    return found


def _effect(action: Action) -> object:
    """What matters of a decision: not how its reason is worded."""
    code = None if action.reason is None else action.reason.code
    return action.key, action.exclude_nodes, round(action.delay_s, 3), code


def _engine(settings: Settings, recording: Recording) -> DecisionEngine:
    return engine_of(settings, limits_of(settings, act_since=recording.act_since))
