"""Secrets in scripts: found so that the user can be told, hidden wherever a line is shown."""

from __future__ import annotations

import re

_NAMED = (
    r"(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD)[A-Za-z0-9_]{0,40}"
    r"[ \t]?[=:][ \t]?[\"']?(?P<value>[^\s\"'$`<>{}()]{8,200})"
)
_SHAPED = (
    r"(?P<shaped>\bhf_[A-Za-z0-9]{30,100}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,100}"
    r"|\bglpat-[A-Za-z0-9_-]{20,60}|\bsk-[A-Za-z0-9_-]{20,200})"
)
_SECRET = re.compile(f"{_SHAPED}|{_NAMED}", re.IGNORECASE)
_NOT_SECRET = re.compile(
    r"(?:true|false|none|null|[\d.]+|[./~].*|.*[._](?:txt|json|yaml))", re.IGNORECASE
)
HIDDEN = "***"


def redact(text: str) -> str:
    """Return the text with every secret in it replaced by stars."""
    return _SECRET.sub(_hide, text)


def holds_secret(text: str) -> bool:
    return redact(text) != text


def _hide(found: re.Match[str]) -> str:
    if found["shaped"]:
        return HIDDEN
    if _NOT_SECRET.fullmatch(found["value"]):
        return found[0]
    return found[0].replace(found["value"], HIDDEN)
