"""Learned rules as a file that can be looked through, handed on and taken in."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from schedmate.handler.learning.proposals import compiled, rule_id
from schedmate.handler.learning.teaching import check_reason
from schedmate.handler.signature import is_distinctive, masked
from schedmate.model import BadInput
from schedmate.model.account import account_name
from schedmate.model.legible import has_hidden, legible
from schedmate.model.lessons import LearnedRule, Origin, Teacher
from schedmate.model.wire import to_json

SCHEMA: Final = "schedmate.rules/1"
_MOST_BYTES: Final = 4 << 20
_MOST_RULES: Final = 2000
_MOST_EXAMPLES: Final = 20
_LEAST_WORD: Final = 4
_MOST_TEXT: Final = 1000


def written_rules(rules: Iterable[LearnedRule]) -> str:
    written = [to_json(rule) for rule in rules]
    return json.dumps({"schema": SCHEMA, "rules": written}, indent=1, ensure_ascii=False) + "\n"


def read_rules(path: Path, *, by: str, at: float) -> list[LearnedRule]:
    """The rules of a file that may come from anywhere; none of them is believed yet."""
    try:
        data = json.loads(_content(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is no JSON: {error}") from error
    rules = data.get("rules") if isinstance(data, dict) else None
    if not isinstance(rules, list) or data.get("schema") != SCHEMA or len(rules) > _MOST_RULES:
        raise BadInput(f"{path} is no file of rules: schedmate rules export writes one")
    return [_rule(one, f"{path}: rule {number}", by, at) for number, one in enumerate(rules, 1)]


def _content(path: Path) -> bytes:
    """Opening a pipe may wait for ever, and a device may never end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise BadInput(f"{path} is no file")
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise BadInput(f"{path} is too large for a file of rules")
    return content


def _rule(data: Any, where: str, by: str, at: float) -> LearnedRule:
    if not isinstance(data, dict):
        raise BadInput(f"{where} is no object")
    reason, pattern = _text(data, "reason", where), _text(data, "pattern", where)
    words, positives = _texts(data, "words", where), _texts(data, "positives", where)
    try:
        check_reason(reason)
        search = compiled(pattern).search
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error
    for line in positives:
        if search(line) is None or not is_distinctive(masked(line)):
            raise BadInput(f"{where}: its own example does not fit it: {line[:100]!r}")
        if not any(word in line.lower() for word in words):
            raise BadInput(f"{where}: none of its words is in its example: {line[:100]!r}")
    if search("") is not None or any(len(word) < _LEAST_WORD for word in words):
        raise BadInput(f"{where} is too general, it would match other lines too")
    origin = _origin(data, where, by, at)
    switched_on = data.get("enabled") is not False
    return LearnedRule(
        id=rule_id(reason, pattern),
        reason=reason,
        pattern=pattern,
        words=words,
        positives=positives,
        origin=origin,
        enabled=switched_on and origin.teacher == "operator",
    )


def _origin(data: dict[str, Any], where: str, by: str, at: float) -> Origin:
    """The importing user is the origin; a model's rule stays a model's, and a proposal."""
    given = data.get("origin")
    stated = given if isinstance(given, dict) else {}
    teacher: Teacher = "llm" if stated.get("teacher") == "llm" else "operator"
    first = legible(str(stated.get("by", ""))[:80])
    note = f"first by {first}" if first else ""
    return Origin(teacher=teacher, by=by, about=where, at=at, note=note, owner=account_name())


def _text(data: dict[str, Any], name: str, where: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where}: {name} is missing or no text")
    return _seen(value, name, where)


def _texts(data: dict[str, Any], name: str, where: str) -> tuple[str, ...]:
    value = data.get(name)
    if not isinstance(value, list) or not 0 < len(value) <= _MOST_EXAMPLES:
        raise BadInput(f"{where}: {name} must be a list of 1 to {_MOST_EXAMPLES} texts")
    if not all(isinstance(text, str) and 0 < len(text) <= _MOST_TEXT for text in value):
        raise BadInput(f"{where}: {name} has something in it that is no text, or too long a one")
    return tuple(_seen(text, name, where) for text in value)


def _seen(text: str, name: str, where: str) -> str:
    """Refuse hidden characters: a person could not see what they accept."""
    if has_hidden(text):
        raise BadInput(f"{where}: {name} has control characters in it")
    return text
