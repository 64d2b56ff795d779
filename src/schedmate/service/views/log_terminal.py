"""One line of a log as a terminal would leave it on the screen: overwritten parts collapsed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedmate.model.redaction import MARK, redact

_LONGEST = 4000
"""Characters of one line that are shown."""
_COLOUR = re.compile(r"\x1b\[([0-9;]{0,40})m")
_OTHER_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,40}[ -/]{0,4}[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b]{0,400}(?:\x07|\x1b\\)"
    r"|\x1b[ -/]{0,4}[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/=]{56,}")
"""A line of a private key, which spans several."""
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_NORMAL, _BRIGHT, _BOLD = 30, 90, 1


@dataclass(frozen=True, slots=True)
class Span:
    """Text in one colour; `style` holds class names of the page, such as `red bold`."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class ScreenLine:
    spans: tuple[Span, ...]
    redrawn: int = 0
    """How many earlier states of the line a carriage return has overwritten."""
    cut: int = 0
    """Characters that are left out at its end."""

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


def screen_line(raw: bytes, *, masked: bool) -> ScreenLine:
    """`raw` has no line feed; `masked`: what looks like a secret is replaced."""
    states = [state for state in raw.rstrip(b"\r\n").split(b"\r") if state.strip()]
    last = states[-1] if states else b""
    text = last.decode("utf-8", "replace")
    if masked:
        text = _masked_line(text)
    cut = max(0, len(text) - _LONGEST)
    return ScreenLine(tuple(_spans(text[:_LONGEST])), max(0, len(states) - 1), cut)


def masked_text(text: str) -> str:
    """Several lines with what looks like a secret replaced, also where it spans some of them."""
    return "\n".join(_masked_line(line) for line in redact(text).split("\n"))


def _masked_line(text: str) -> str:
    """A secret may be coloured: where one shows without its colours, the line has none."""
    plain = _OTHER_ESCAPES.sub("", _COLOUR.sub("", text))
    if _KEY_MATERIAL.fullmatch(plain.strip()):
        return MARK
    clean = redact(plain)
    return text if clean == plain else clean


def _spans(text: str) -> list[Span]:
    found: list[Span] = []
    style, at = "", 0
    for match in _COLOUR.finditer(text):
        _add(found, text[at : match.start()], style)
        style, at = _style(match[1], style), match.end()
    _add(found, text[at:], style)
    return found


def _add(spans: list[Span], text: str, style: str) -> None:
    clean = _OTHER_ESCAPES.sub("", text)
    if clean:
        spans.append(Span(clean, style))


def _style(codes: str, before: str) -> str:
    words = set(before.split())
    for code in codes.split(";"):
        number = int(code or 0)
        if number == 0:
            words = set()
        elif number == _BOLD:
            words.add("bold")
        elif number - _NORMAL in range(len(_NAMES)) or number - _BRIGHT in range(len(_NAMES)):
            words = (words & {"bold"}) | {_NAMES[number % 10]}
    return " ".join(sorted(words))
