"""Several notices to one user as one message."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedmate.model.job import array_of
from schedmate.model.legible import legible
from schedmate.model.redaction import redact
from schedmate.model.wire import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model.access import Notice

_MOST_SHOWN = 20
_LONGEST = 300
_WORDS = {
    "failed": ("failed", "failed"),
    "hung": ("hangs", "hang"),
    "limit": ("will not make its limit", "will not make their limits"),
    "doomed": ("runs on for nothing", "run on for nothing"),
    "made_way": ("made way for shorter jobs", "made way for shorter jobs"),
}
"""Of one job, and of several."""


@dataclass(frozen=True, slots=True)
class Message:
    """`title` says what happened and why; it is the subject, and the first line of any text."""

    user: str
    title: str
    lines: tuple[str, ...]
    notices: tuple[Notice, ...]

    @property
    def text(self) -> str:
        return "\n".join((self.title, *self.lines))

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": "schedmate.notification/1",
            "user": self.user,
            "title": self.title,
            "text": self.text,
            "notices": [
                {**to_json(one), "text": clean_line(one.text), "details": clean_lines(one.details)}
                for one in self.notices
            ],
        }


def message_of(user: str, notices: Sequence[Notice], link: str) -> Message:
    """One notice speaks for itself; of many the first line counts them."""
    groups = _groups(notices)
    lines: list[str] = []
    for shown in groups[:_MOST_SHOWN]:
        first = shown[0]
        if len(groups) > 1:
            lines.append(_grouped(shown))
        if len(groups) <= 3:  # noqa: PLR2004 - of more jobs the evidence would hide the list
            lines += (f"  {line}" for line in clean_lines(first.details))
        if link:
            lines.append(f"  {link.rstrip('/')}/jobs/{first.job_id}")
    if len(groups) > _MOST_SHOWN:
        lines.append(f"and {len(groups) - _MOST_SHOWN} more")
    title = _grouped(groups[0]) if len(groups) == 1 else _counted(notices)
    return Message(user, title, tuple(lines), tuple(notices))


def _groups(notices: Sequence[Notice]) -> list[list[Notice]]:
    """Tasks of an array to which the same happened are one."""
    found: dict[tuple[str, ...], list[Notice]] = {}
    for one in notices:
        array = array_of(one.job_id)
        what = one.text.partition(" ")[2].partition(": ")[2].partition(":")[0]
        key = (array, one.kind, what) if array else (one.job_id, str(one.attempt), one.kind)
        found.setdefault(key, []).append(one)
    return list(found.values())


def _grouped(group: Sequence[Notice]) -> str:
    text = clean_line(group[0].text)
    others = len(group) - 1
    if not others:
        return text
    return f"{text} (and {others} more {'task' if others == 1 else 'tasks'} of its array)"


def _counted(notices: Sequence[Notice]) -> str:
    counts = Counter(one.kind for one in notices)
    stated = [f"{number} {_WORDS[kind][number > 1]}" for kind, number in counts.items()]
    reasons = Counter(
        one.text.partition("failed: ")[2].partition(":")[0]
        for one in notices
        if one.kind == "failed"
    )
    why = ", ".join(f"{reason} ({number})" for reason, number in reasons.most_common(3) if reason)
    return f"of your jobs, {', '.join(stated)}" + (f": {clean_line(why)}" if why else "")


def clean_lines(lines: Sequence[str]) -> list[str]:
    return [clean_line(line) for line in lines]


def clean_line(text: str) -> str:
    """One line in which no secret and nothing that moves a cursor is left."""
    line = legible(redact(" ".join(text.split())))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
