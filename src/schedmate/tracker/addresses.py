"""Addresses of machines and pages, and paths of files: numbers in them are names, no counts."""

from __future__ import annotations

from schedmate.logs.lazy_patterns import lazy_pattern

_REST = r"[^\s\"'<>|,;()\[\]{}]{0,400}"
_ADDRESS = lazy_pattern(
    rf"(?<![\w/])(?:[A-Za-z][A-Za-z0-9+.-]{{1,12}}://{_REST}"
    rf"|(?:~|\.{{1,2}})?/[^\s\"'<>|,;/]{{1,80}}/{_REST}"
    rf"|[A-Za-z_][\w.-]{{0,80}}/[\w.=@%-]{{1,80}}/[\w.-]{_REST}"
    rf"|\?[A-Za-z_]\w{{0,40}}={_REST})"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.])"
)
_PLACEHOLDER = "…"


def has_address(text: str) -> bool:
    return ("/" in text or "." in text) and _ADDRESS.search(text) is not None


def without_addresses(text: str) -> str:
    return _ADDRESS.sub(_PLACEHOLDER, text)
