"""Python tracebacks, one stream a rank, chained ones kept together."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Final, Literal

from schedmate.handler.reading.lines import LogLine

Link = Literal["none", "cause", "context"]
Chain = list["Traceback"]

_HEAD: Final = "Traceback (most recent call last):"
_LINKS: Final[dict[str, Link]] = {
    "The above exception was the direct cause of the following exception:": "cause",
    "During handling of the above exception, another exception occurred:": "context",
}
_HARMLESS: Final = ("Exception ignored in", "Task exception was never retrieved")
_ERROR = re.compile(r"[A-Za-z_][\w.]{0,200}(?:\([\w.]{1,100}\))?(?::\s|:?$)")
_GROUP_MARGIN = re.compile(r" {2,40}\| (?=\S)")
_DIGIT = re.compile(r"\d")
_SHOWN_FRAMES: Final = 4
_MOST_LINES: Final = 5000
_MOST_NOISE: Final = 3
_MOST_EXTRA: Final = 4
_MOST_CHAINS: Final = 2000
_MOST_LINKS: Final = 16
_MOST_STREAMS: Final = 4096


@dataclass(slots=True)
class Traceback:
    """`message` is the error line and, where it only announces them, the lines below it."""

    head: LogLine
    link: Link
    frames: deque[LogLine] = field(default_factory=lambda: deque(maxlen=_SHOWN_FRAMES))
    error: LogLine | None = None
    message: str = ""

    @property
    def shown(self) -> tuple[LogLine, ...]:
        """The innermost call and the error."""
        calls = [line for line in self.frames if line.text.lstrip().startswith("File ")]
        inner = tuple(line for line in self.frames if calls and line.number >= calls[-1].number)
        code = tuple(line for line in inner if not set(line.text.strip()) <= set("~^ "))
        return (*code[:2], self.error) if self.error else code[:2]


@dataclass(slots=True)
class _Stream:
    """Where one rank stands."""

    open: Traceback | None = None
    margin: str = ""
    lines: int = 0
    noise: int = 0
    extra: int = 0
    link: Link = "none"
    harmless: bool = False
    chain: Chain = field(default_factory=list)
    closed: Traceback | None = None

    @property
    def busy(self) -> bool:
        return self.open is not None or self.closed is not None or self.link != "none"


@dataclass(frozen=True, slots=True)
class FoundChain:
    """First to last as they were raised; `mark` is where the log stood when it was complete."""

    tracebacks: Chain
    mark: int


class TracebackCollector:
    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}
        self._busy: set[str] = set()
        self._found: deque[FoundChain] = deque(maxlen=_MOST_CHAINS)

    @property
    def busy(self) -> bool:
        """Some traceback is still being written: every line counts."""
        return bool(self._busy)

    @property
    def found(self) -> tuple[FoundChain, ...]:
        return tuple(self._found)

    def feed(self, line: LogLine, mark: int) -> bool:
        """Take the line if it belongs to a traceback."""
        stream = self._streams.get(line.stream)
        if stream is None:
            if len(self._streams) >= _MOST_STREAMS:
                return False
            stream = self._streams[line.stream] = _Stream()
        taken = self._feed(stream, line, mark)
        (self._busy.add if stream.busy else self._busy.discard)(line.stream)
        return taken

    def _feed(self, stream: _Stream, line: LogLine, mark: int) -> bool:
        text = _without_margin(line.text, stream.margin)
        if text.endswith(_HEAD):
            self._start(stream, line)
        elif text.strip() in _LINKS:
            stream.link, stream.closed = _LINKS[text.strip()], None
        elif text.startswith(_HARMLESS):
            stream.harmless = True
        elif stream.open is not None:
            return self._go_on(stream, stream.open, line, text, mark)
        elif stream.closed is not None:
            return _extend(stream, stream.closed, text)
        else:
            if text.strip():
                stream.link = "none"
            return False
        return True

    def _start(self, stream: _Stream, line: LogLine) -> None:
        if stream.link == "none" or len(stream.chain) >= _MOST_LINKS:
            stream.chain = []
        stream.open = Traceback(line, stream.link if stream.chain else "none")
        stream.margin = line.text[: -len(_HEAD)]
        stream.link, stream.closed = "none", None
        stream.lines = stream.noise = stream.extra = 0

    def _go_on(
        self, stream: _Stream, traceback: Traceback, line: LogLine, text: str, mark: int
    ) -> bool:
        stream.lines += 1
        if not text or text[0].isspace():
            if text.strip():
                traceback.frames.append(line)
            if stream.lines > _MOST_LINES:
                stream.open = None
            return True
        if _ERROR.match(text):
            self._close(stream, traceback, line, text, mark)
            return True
        stream.noise += 1
        if stream.noise > _MOST_NOISE:
            stream.open = None
        return False

    def _close(
        self, stream: _Stream, traceback: Traceback, line: LogLine, text: str, mark: int
    ) -> None:
        traceback.error, traceback.message = line, text
        stream.open, stream.closed = None, traceback
        if stream.harmless:
            stream.harmless = False
            return
        if not stream.chain:
            self._found.append(FoundChain(stream.chain, mark))
        stream.chain.append(traceback)


def _extend(stream: _Stream, traceback: Traceback, text: str) -> bool:
    """Take what an error line only announces: `Error(s) in loading state_dict for Net:`."""
    announced = traceback.message.rstrip().endswith(":") or text[:1] in ("\t", " ")
    if not text.strip() or not announced or stream.extra >= _MOST_EXTRA:
        stream.closed = None
        return False
    stream.extra += 1
    traceback.message += "\n" + text[:500]
    return True


def _without_margin(text: str, margin: str) -> str:
    """Strip what a logger, or the frame of an ExceptionGroup, puts before every line."""
    if margin and _DIGIT.sub("0", text[: len(margin)]) == _DIGIT.sub("0", margin):
        return text[len(margin) :]
    return _GROUP_MARGIN.sub("", text, count=1) if text.startswith("  ") else text
