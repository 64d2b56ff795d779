"""The event log through the decision engine once more: which decisions would differ.

A replay takes the settings that the log has recorded, and is compared with what was decided at
the time. With other settings the events are replayed twice, by the recorded ones and by the others.
"""

from __future__ import annotations

import heapq
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedmate import config
from schedmate.core import Act, JobSeen, Started, job_of
from schedmate.model import Action, BadInput, JobId, NotFound
from schedmate.model.wire import from_json, to_json
from schedmate.service.records.event_log import all_events, opened
from schedmate.service.wiring import deciding_settings, engine_of, limits_of
from schedmate.store import KeptEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from schedmate.config import Settings
    from schedmate.core import DecisionEngine
    from schedmate.store import Store

_SCHEMA = "schedmate.events/1"
_Place = tuple[str, int, str]
SettingsSource = Literal["recorded", "mine"]
"""Those that the log has recorded, or those of the account that replays it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The events that were sent to the engine, and what it decided then."""

    events: tuple[KeptEvent, ...]
    decided: tuple[Action, ...]
    act_since: float

    def settings(self) -> Mapping[str, str]:
        """The newest that were recorded; none in a log of an older version."""
        starts = [opened(row) for row in self.events if row.kind == Started.__name__]
        recorded = [one.settings for one in starts if isinstance(one, Started) and one.settings]
        return recorded[-1] if recorded else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One decision that one side takes otherwise, or not at all."""

    job_id: JobId
    attempt: int
    kind: str
    before: Action | None = None
    now: Action | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSetting:
    name: str
    recorded: str
    used: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    schema: Literal["schedmate.replay/1"] = "schedmate.replay/1"
    against: Literal["recorded", "settings"]
    """What it is compared with: the decisions of that time, or a replay as recorded."""
    settings: SettingsSource
    """Whose settings it used; `mine` also where the log has recorded none."""
    changed: tuple[ChangedSetting, ...] = ()
    """Settings that it used with another value than the newest recorded one."""
    unknown: tuple[str, ...] = ()
    """Recorded settings that this version does not have."""
    events: int
    decisions: int
    differences: tuple[Difference, ...]


def recorded_in(store: Store) -> Recording:
    events = tuple(all_events(store))
    if not events:
        raise NotFound("the event log is empty; schedmate serve fills it")
    # a log without its beginning keeps a start that may be much older than the rest
    since = next((row.at for row in events if row.kind != Started.__name__), events[0].at)
    decided = (
        one.action for one in store.actions() if one.at >= since and not _by_a_person(one.action)
    )
    return Recording(events=events, decided=tuple(decided), act_since=store.created_at())


def _by_a_person(action: Action) -> bool:
    return action.reason is not None and action.reason.code in ("by_a_person", "reverted")


def recorded_by(path: Path) -> Recording:
    """What `export` has written."""
    try:
        first, *lines = [json.loads(line) for line in path.read_text().splitlines()] or [{}]
        if not all(isinstance(line, dict) for line in (first, *lines)):
            raise BadInput(f"{path} is no event log: not every line is an object")
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
    except RecursionError:
        raise BadInput(f"{path} is no event log: it is nested too deeply") from None
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
    mine: Settings,
    *,
    by: SettingsSource = "recorded",
    changes: Sequence[str] = (),
    on_event: Callable[[], None] = lambda: None,
) -> Replay:
    """By the recorded settings or by one's own, with changes as `config.changed` takes them.

    Where these are the recorded ones, it is compared with what was decided at the time.
    """
    _refuse_what_decides_nothing(changes, mine)
    recorded = recording.settings()

    def then(settings: Mapping[str, str]) -> Settings:
        """Of a start that recorded none, as an older version did, the newest recorded ones."""
        return _with(mine, settings or recorded)

    def used(settings: Mapping[str, str]) -> Settings:
        return config.changed(then(settings) if by == "recorded" else mine, changes)

    others = bool(changes) or (by == "mine" and bool(recorded))
    before = decisions(recording, then, on_event) if others else recording.decided
    now = decisions(recording, used, on_event)
    return Replay(
        against="settings" if others else "recorded",
        settings=by if recorded else "mine",
        changed=tuple(_changed(then({}), used({}))),
        unknown=tuple(name for name in recorded if name not in deciding_settings(mine)),
        events=len(recording.events),
        decisions=len(now),
        differences=tuple(differences(before, now)),
    )


def _refuse_what_decides_nothing(changes: Sequence[str], mine: Settings) -> None:
    """A mode or a limit of the scheduler acts outside of the engine: it would change nothing."""
    config.changed(mine, changes)
    known = deciding_settings(mine)
    for change in changes:
        name = change.partition("=")[0].strip()
        if name not in known and not any(one.startswith(f"{name}.") for one in known):
            others = ", ".join(known)
            raise BadInput(f"{name} changes nothing in a replay; decisions depend on {others}")


def _with(mine: Settings, recorded: Mapping[str, str]) -> Settings:
    """One's own settings, and of those that decisions depend on the recorded ones."""
    known = deciding_settings(mine)
    changes = [f"{name}={value}" for name, value in recorded.items() if name in known]
    return config.changed(mine, changes)


def _changed(then: Settings, used: Settings) -> Iterator[ChangedSetting]:
    before, now = deciding_settings(then), deciding_settings(used)
    for name, value in now.items():
        if value != before[name]:
            yield ChangedSetting(name=name, recorded=before[name], used=value)


def decisions(
    recording: Recording,
    settings_for: Callable[[Mapping[str, str]], Settings],
    on_event: Callable[[], None] = lambda: None,
) -> list[Action]:
    """All that is decided, by settings chosen from what each start has recorded.

    The same decision again counts once.
    """
    found: dict[str, Action] = {}
    engine = _engine(settings_for({}), recording)
    due: list[tuple[float, JobId]] = []
    for row in recording.events:
        event = opened(row)
        if isinstance(event, Started):
            engine, due = _engine(settings_for(event.settings), recording), []
        for sent in (*_looks_until(event.at, due, engine), event):
            for instruction in engine.handle(sent):
                if isinstance(instruction, Act):
                    found.setdefault(instruction.action.key, instruction.action)
        at = engine.due(job_of(event))
        if at is not None and at > event.at:
            heapq.heappush(due, (at, job_of(event)))
        on_event()
    return list(found.values())


def _looks_until(
    at: float, due: list[tuple[float, JobId]], engine: DecisionEngine
) -> Iterator[JobSeen]:
    """Looks at waiting jobs at which a bound is reached by these settings: where nothing followed
    from a look at the time, the log has left it out."""
    while due and due[0][0] < at:
        when, job_id = heapq.heappop(due)
        if job_id in engine.known:
            yield JobSeen(when, engine.known[job_id].job)


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
