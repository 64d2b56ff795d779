"""From bytes to lines: cut at line ends and at what draws over a line, then cleaned."""

from __future__ import annotations

from schedmate.logs.lazy_patterns import lazy_pattern

MAX_LINE = 8192
"""The rest of a longer line is dropped: no progress line is that long."""
LINE_ENDS = (b"\n", b"\r", b"\b")
"""A bar that goes back to its start, by a return or by backspaces, begins a new line."""

_DRAWS_OVER = (b"\r", b"\b")
_ESCAPES = lazy_pattern(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]"
    r"|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)?"
    r"|[()*+][0-9A-Za-z]|[=>78cDEHMNOZ])"
)


class LineCutter:
    """Cuts a stream into lines; never holds more than one, and of that not more than the longest.

    NULs are dropped: they are the hole that a writer leaves in a file truncated under it, or
    every other byte of UTF-16.
    """

    __slots__ = ("_drawn_over", "_open", "open_bytes", "overlong")

    def __init__(self, *, overlong: bool = False, open_line: bytes = b"") -> None:
        self._open = bytearray(open_line)
        self._drawn_over = False
        self.overlong = overlong
        """The unended line was already handed out; what comes up to its end is dropped."""
        self.open_bytes = 0
        """True length of the line that has not ended yet, dropped bytes included."""

    @property
    def open_line(self) -> bytes:
        return bytes(self._open)

    @property
    def open_bar(self) -> bytes | None:
        """The unended line, if it draws over the line before, as the last state of a bar does."""
        return bytes(self._open) if self._drawn_over and self._open else None

    def follows(self, end: bytes) -> None:
        """Say how the line before the open one ended."""
        self._drawn_over = end in _DRAWS_OVER

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the non-empty lines that end in this chunk."""
        return lines_in(self.cut(chunk))

    def cut(self, chunk: bytes) -> bytes:
        """Return all that has ended, as one piece of complete lines, and keep the rest open."""
        end = _last_end(chunk)
        if end == 0:
            return self._keep(chunk)
        ended = self._ended(chunk, end)
        self._open.clear()
        self.open_bytes, self.overlong = 0, False
        self.follows(chunk[end - 1 : end])
        return ended + self._keep(chunk[end:])

    def finish(self) -> list[bytes]:
        """Return the last line of a stream that ended without a line end."""
        rest = bytes(self._open)
        self._open.clear()
        self.open_bytes, self.overlong, self._drawn_over = 0, False, False
        return [rest] if rest else []

    def _ended(self, chunk: bytes, end: int) -> bytes:
        """The open line and what ended after it, copied once: a backlog comes in megabytes."""
        start = 0
        if self.overlong:
            start = min(at for at in map(chunk.find, LINE_ENDS) if at >= 0)
        return without_nuls(b"".join((self._open, memoryview(chunk)[start:end])))

    def _keep(self, rest: bytes) -> bytes:
        """Hold an unended line, or hand it out, cut, as soon as it is too long."""
        self.open_bytes += len(rest)
        if not rest or self.overlong:
            return b""
        self._open += without_nuls(rest)
        if len(self._open) <= MAX_LINE:
            return b""
        cut = bytes(self._open[:MAX_LINE])
        self._open.clear()
        self.overlong = True
        return cut + b"\n"


def _last_end(chunk: bytes) -> int:
    """Where the unended line begins; it is searched near the end first, which is cheaper."""
    near = max(0, len(chunk) - MAX_LINE)
    return max(chunk.rfind(end, near) for end in LINE_ENDS) + 1 or (
        max(chunk.rfind(end, 0, near) for end in LINE_ENDS) + 1
    )


def without_nuls(text: bytes) -> bytes:
    return text.translate(None, b"\0") if b"\0" in text else text


def lines_in(text: bytes) -> list[bytes]:
    """Return the non-empty lines of a piece of complete lines, each cut to the longest."""
    for end in _DRAWS_OVER:
        text = text.replace(end, b"\n")
    return [line[:MAX_LINE] for line in text.split(b"\n") if line]


def clean(line: bytes) -> str:
    """Text without terminal escapes; what is no UTF-8 becomes a replacement character.

    Its indentation stays: a traceback is known by it.
    """
    text = line.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return text.removeprefix("\ufeff").rstrip()
