"""The shapes of a traceback's lines, whoever printed it."""

from __future__ import annotations

import re
from typing import Final, Literal

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
"""What the interpreter says before a traceback that ends nothing."""

_GROUP: Final = re.compile(r"( {0,40})[+|] Exception Group Traceback ")
_MARGIN: Final = re.compile(r" {2,40}\| (?=\S)")
_DIVIDER: Final = re.compile(r" {0,40}\+[-+]{1,60}(?: \d{1,4} |\.\.\. )?-{0,60}$")
_WORKER: Final = re.compile(r"-- Process \d{1,6} terminated with the following error:$")
_FRAME: Final = re.compile(
    r'(?:>? {1,12})?File "(?P<file>[^"]{1,400})", line \d{1,9}(?:, in |$)'
    r"|│ (?P<boxed>[^\s:]{1,400}\.py):\d{1,9} in "
)
_THEIRS: Final = re.compile(r"(?:site|dist)-packages/|/lib(?:64)?/python3|<frozen |^<\w")
_UNDERLINE: Final = re.compile(r"[\s~^]{1,400}$")
_NAME: Final = re.compile(r"([A-Za-z_][\w.]{0,200})(?:\([\w.]{1,100}\))?(: |:$|:\s|$)")
_EXCEPTION: Final = re.compile(
    r"(?:Error|Exception|Interrupt|Exit|Iteration|Warning|Expired|Empty|Full|Timeout|Group"
    r"|Failure|Fault|Unsupported|Invalid)$"
)
_OTHERS: Final = re.compile(
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


def is_theirs(file: str) -> bool:
    """The file of a library, not of the user."""
    return _THEIRS.search(file) is not None


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


def is_of_others(text: str) -> bool:
    """Something else begins: a logger's line, a launcher's, a progress bar."""
    return _OTHERS.match(text) is not None
