"""Python tracebacks, one stream a rank, chained ones kept together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from schedmate.handler.reading.lines import LogLine

Link = Literal["none", "cause", "context", "inside"]

HEAD: Final = "Traceback (most recent call last)"
LINKS: Final[dict[str, Link]] = {
    "The above exception was the direct cause of the following exception:": "cause",
    "During handling of the above exception, another exception occurred:": "context",
}
HARMLESS: Final = (
    "Exception ignored ",
    "Task exception was never retrieved",
    "Error in atexit._run_exitfuncs",
    "Error in sys.excepthook",
)
"""Headers of tracebacks that end no process."""

_GROUP: Final = re.compile(r"( {0,40})[+|] Exception Group Traceback ")
_MARGIN: Final = re.compile(r" {2,40}\| (?=\S)")
_DIVIDER: Final = re.compile(r" {0,40}\+[-+]{1,60}(?: \d{1,4} |\.\.\. )?-{0,60}$")
_WORKER: Final = re.compile(r"-- Process \d{1,6} terminated with the following error:$")
_FRAME: Final = re.compile(
    r'(?:>? {1,12})?File "(?P<file>[^"]{1,400})", line \d{1,9}(?:, in |$)'
    r"|│ (?P<boxed>[^\s:]{1,400}\.py):\d{1,9} in "
)
_LIBRARY: Final = re.compile(r"(?:site|dist)-packages/|/lib(?:64)?/python3|<frozen |^<\w")
_UNDERLINE: Final = re.compile(r"[\s~^]{1,400}$")
_NAME: Final = re.compile(r"([A-Za-z_][\w.]{0,200})(?:\([\w.]{1,100}\))?(: |:$|:\s|$)")
_EXCEPTION: Final = re.compile(
    r"(?:Error|Exception|Interrupt|Exit|Iteration|Warning|Expired|Empty|Full|Timeout|Group"
    r"|Failure|Fault|Unsupported|Invalid)$"
)
_OTHER_WRITERS: Final = re.compile(
    r"\s{0,4}(?:\[?\d{4}[-/]\d\d[-/]\d\d|\[?\d\d:\d\d:\d\d|[IWEF]\d{4} \d\d:|srun: |slurmstepd: "
    r"|mpirun|wandb: |\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL)\b)|.{0,80}\d%\|"
)
_DIGIT: Final = re.compile(r"\d")


def margin_of_head(text: str) -> str | None:
    """What stands before the head, and then before every line; None where there is no head."""
    if HEAD not in text:
        return None
    group = _GROUP.match(text)
    if group is not None:
        return f"{group[1]}| "
    before, _, after = text.partition(HEAD)
    if after.rstrip() == ":":
        return before
    return "" if before.startswith("╭") else None


def is_boxed(text: str) -> bool:
    return text[:1] in ("╭", "│", "╰")


def without_margin(text: str, margin: str) -> str:
    """Strip what a logger, or the frame of an ExceptionGroup, puts before every line."""
    if margin and _DIGIT.sub("0", text[: len(margin)]) == _DIGIT.sub("0", margin):
        return text[len(margin) :]
    return _MARGIN.sub("", text, count=1) if text.startswith("  ") else text


def is_divider(text: str) -> bool:
    """Stands between the exceptions of a group."""
    return text.lstrip().startswith("+") and _DIVIDER.match(text) is not None


def is_of_worker(text: str) -> bool:
    """Announces the traceback of a child process inside its parent's."""
    return text.startswith("-- Process") and _WORKER.match(text) is not None


def frame_file(text: str) -> str | None:
    """The file that a call is in; None where the line is no call."""
    found = _FRAME.match(text)
    return None if found is None else found["file"] or found["boxed"]


def is_library(file: str) -> bool:
    """The file of a library, not of the user."""
    return _LIBRARY.search(file) is not None


def is_underline(text: str) -> bool:
    return _UNDERLINE.match(text) is not None


def is_error(text: str) -> bool:
    """The line that ends a traceback: `package.Type: message`, or the type alone."""
    found = _NAME.match(text)
    if found is None:
        return False
    name, colon = found.group(1, 2)
    if colon.startswith(":"):
        return "." in name or name[0].isupper() or _EXCEPTION.search(name) is not None
    return _EXCEPTION.search(name) is not None or ("." in name and "/" not in name)


def is_other_output(text: str) -> bool:
    """Something else begins: a logger's line, a launcher's, a progress bar."""
    return _OTHER_WRITERS.match(text) is not None


Chain = list["Traceback"]

_MOST_LINES: Final = 5000
_MOST_NOISE: Final = 6
_MOST_BENEATH: Final = 12
_MOST_OF_TABLE: Final = 80
_MOST_EXTRA: Final = 10
_MOST_OPEN: Final = 64
_MOST_LINKS: Final = 16
_MOST_STREAMS: Final = 4096
_MESSAGE_BYTES: Final = 500


@dataclass(slots=True)
class Traceback:
    """`message` is the error line and, where it only announces them, the lines below it."""

    head: LogLine
    link: Link
    inner: LogLine | None = None
    inner_code: LogLine | None = None
    own: LogLine | None = None
    """The innermost call in the user's own files ..."""
    own_code: LogLine | None = None
    """... and what stands there."""
    error: LogLine | None = None
    message: str = ""
    beneath: list[str] = field(default_factory=list)
    """Lines below that may belong to the message or to another writer."""

    @property
    def shown(self) -> tuple[LogLine, ...]:
        """The error, then the innermost call, in the user's own code if there is one."""
        call = (self.own, self.own_code) if self.own else (self.inner, self.inner_code)
        return tuple(line for line in (self.error, *call) if line is not None)

    def add_call(self, line: LogLine, text: str) -> None:
        file = frame_file(text)
        if file is not None:
            self.inner, self.inner_code = line, None
            if not is_library(file):
                self.own, self.own_code = line, None
        elif not is_underline(text) and self.inner is not None:
            self._add_code(line, text)

    def _add_code(self, line: LogLine, text: str) -> None:
        """The line below the call; in a box, the one that is pointed at."""
        if is_boxed(text) and "❱" not in text:
            return
        if self.own is self.inner and self.own_code is None:
            self.own_code = line
        if self.inner_code is None:
            self.inner_code = line


@dataclass(slots=True)
class _Stream:
    """Where one rank stands."""

    open: list[Traceback] = field(default_factory=list)
    """Several where ranks write one stream at the same time, line by line."""
    margin: str = ""
    headless: bool = False
    lines: int = 0
    noise: int = 0
    extra: int = 0
    link: Link = "none"
    harmless: bool = False
    chain: Chain = field(default_factory=list)
    closed: Traceback | None = None

    @property
    def busy(self) -> bool:
        return bool(self.open) or self.closed is not None or self.link != "none"


class TracebackCollector:
    """Takes lines in the order of the log; what it found is taken from it by `fresh`."""

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}
        self._busy: set[str] = set()
        self._fresh: list[Chain] = []

    @property
    def busy(self) -> bool:
        """Some traceback is still being written: every line counts."""
        return bool(self._busy)

    def fresh(self) -> list[Chain]:
        """The chains that have begun to be complete since the last time; they may still grow."""
        chains, self._fresh = self._fresh, []
        return chains

    def unfinished(self) -> list[Traceback]:
        """What the end of the log cut off."""
        streams = (stream for stream in self._streams.values() if not stream.headless)
        return [one for stream in streams if not stream.chain for one in stream.open]

    def feed(self, line: LogLine) -> bool:
        """Take the line if it belongs to a traceback."""
        stream = self._streams.get(line.stream)
        if stream is None:
            if len(self._streams) >= _MOST_STREAMS:
                return False
            stream = self._streams[line.stream] = _Stream()
        taken = self._feed(stream, line)
        (self._busy.add if stream.busy else self._busy.discard)(line.stream)
        return taken

    def _feed(self, stream: _Stream, line: LogLine) -> bool:
        margin = margin_of_head(line.text)
        text = without_margin(line.text, stream.margin)
        stripped = text.strip()
        if margin is not None:
            self._start(stream, line, margin)
        elif stripped in LINKS:
            stream.link, stream.closed = LINKS[stripped], None
        elif is_of_worker(text):
            stream.link, stream.closed = "inside", None
        elif text.startswith(HARMLESS):
            stream.harmless = True
        elif is_divider(text) and (stream.open or stream.chain or stream.margin):
            stream.closed = None
        else:
            return self._feed_inside(stream, line, text)
        return True

    def _feed_inside(self, stream: _Stream, line: LogLine, text: str) -> bool:
        if not stream.open and frame_file(text) is not None:
            self._start_headless(stream, line)
        if stream.open:
            return self._go_on(stream, line, text)
        if stream.closed is not None:
            return _extend(stream, stream.closed, text)
        if text.strip() and not text.startswith('"""'):
            stream.link = "none"
        return False

    def _start(self, stream: _Stream, line: LogLine, margin: str) -> None:
        if "Original" in margin[-12:] and stream.closed is not None:
            stream.link = "inside"
        stream.harmless = stream.harmless or "WARN" in margin
        if stream.headless or len(stream.open) >= _MOST_OPEN:
            stream.open = []
        stream.margin, stream.headless = margin, False
        self._open(stream, line)

    def _start_headless(self, stream: _Stream, line: LogLine) -> None:
        """Ray and syntax errors print no head, and a log may begin inside a traceback."""
        if stream.closed is not None:
            stream.link = "inside"
        stream.headless = True
        self._open(stream, line)

    def _open(self, stream: _Stream, line: LogLine) -> None:
        if stream.link == "none" or len(stream.chain) >= _MOST_LINKS:
            stream.chain = []
        stream.open.append(Traceback(line, stream.link if stream.chain else "none"))
        stream.link, stream.closed = "none", None
        stream.lines = stream.noise = stream.extra = 0

    def _go_on(self, stream: _Stream, line: LogLine, text: str) -> bool:
        stream.lines += 1
        if not text or text[0].isspace() or text.startswith("> File ") or is_boxed(text):
            for traceback in stream.open:
                traceback.add_call(line, text)
            if stream.lines > _MOST_LINES:
                stream.open = []
            return True
        if is_error(text):
            self._close(stream, line, text)
            return True
        stream.noise += 1
        if stream.noise > _MOST_NOISE or stream.headless:
            stream.open = []
        return False

    def _close(self, stream: _Stream, line: LogLine, text: str) -> None:
        traceback = stream.open.pop(0)
        traceback.error, traceback.message = line, text
        stream.closed, stream.noise = traceback, 0
        if stream.harmless:
            stream.harmless = False
            return
        if traceback.link == "none":
            stream.chain = []
        self._join(stream.chain, traceback)

    def _join(self, chain: Chain, traceback: Traceback) -> None:
        if not chain:
            self._fresh.append(chain)
        if traceback.link == "inside" and chain:
            chain.insert(0, traceback)
            chain[1].link = "cause"
        else:
            chain.append(traceback)


def _extend(stream: _Stream, traceback: Traceback, text: str) -> bool:
    """Take what an error line only announces: `Error(s) in loading state_dict for Net:`.

    Other lines below may explain it too or come from another writer: they are not taken.
    """
    announced = traceback.message.rstrip().endswith(":") or text[:1] in ("\t", " ")
    stream.extra += 1
    if text.strip() and announced and stream.extra <= _MOST_EXTRA and not traceback.beneath:
        traceback.message += "\n" + text[:_MESSAGE_BYTES]
        return True
    table = "ChildFailedError" in traceback.message
    most = _MOST_OF_TABLE if table else _MOST_BENEATH
    if stream.extra > most or (is_other_output(text) and not table):
        stream.closed = None
        return False
    if text.strip():
        traceback.beneath.append(text[:_MESSAGE_BYTES])
    return False
