"""What a scheduler writes after a job: reports and accounting tables are no output of the job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from schedmate.handler.reading.lines import clean
from schedmate.handler.reading.liveness import PROGRESS

if TYPE_CHECKING:
    from collections.abc import Sequence

_LSF_MARK: Final = b"Sender: LSF System <"
_LSF: Final = re.compile(r"Sender: LSF System <")
_TABLE: Final = re.compile(
    r"\s{0,4}jobid(?:raw)?[ |]{1,40}\S|qname {2,40}\S|\s{0,4}command being timed: "
    r"|\d{3} \([\d.]{1,40}\) .{1,40}job (?:terminated|was (?:evicted|aborted))",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    r"\W{0,80}(?:begin |start of |running )?(?:pbs |torque |slurm |job )?epilog(?:ue)?\b"
    r"|\W{0,80}(?:job|resource)s? (?:statistics|summary|usage|accounting|report|efficiency)\b",
    re.IGNORECASE,
)
"""A job may print such words itself, and go on."""
_OUTPUT_FOLLOWS: Final = "The output (if any) follows:"
_NAMES: Final = (
    "cpus?|ncpus|cores|gpus?|ngpus|mem|memory|vmem|rss|swap|wall-?time|wall-?clock|elapsed"
    "|turnaround|time|status|code|job|job_?id|job_?name|id|name|queue|partition|account|project"
    "|cluster|user|user/group|group|owner|nodes?|nodelist|hosts?|state|threads?|processes"
    "|utili[sz]ed|utili[sz]ation|efficiency|requested|used|limit|energy|units|directory|faults"
    "|switches|size|start|started|end|ended|finished|submitted|submit|reported|at|date|real|sys"
    "|qos|reason|exit|signal|read|written|cost"
)
_ACCOUNTED: Final = re.compile(
    rf"[\W_]{{0,80}}(?:[\w/.-]{{1,30}} ){{0,4}}[\w/.-]{{0,30}}(?:{_NAMES})(?: ?\([^)]{{0,40}}\))?"
    r" {0,60}(?:[:=|]|\t)",
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile(r"[\W_]{0,400}")
_LEAST_ACCOUNTED: Final = 4
_MOST_LINES: Final = 80
_MOST_LSF_LINES: Final = 400
"""LSF repeats the job's script in its report."""
_END_BYTES: Final = 1 << 15


def split_epilogue(block: bytes) -> tuple[bytes, bytes]:
    """The end of a log as the job's output and the scheduler's report behind it."""
    end = block[-_END_BYTES:]
    lines = end.split(b"\n")
    most = _MOST_LSF_LINES if _LSF_MARK in end else _MOST_LINES
    texts = [clean(raw) for raw in lines[-most:]]
    last = texts[-_MOST_LINES:]
    length = max(_of_lsf(texts), _since(_TABLE, last), _announced(last), _accounted(texts))
    size = sum(len(raw) + 1 for raw in lines[len(lines) - length :]) - 1 if length else 0
    return block[: len(block) - size], block[len(block) - size :]


def _of_lsf(texts: Sequence[str]) -> int:
    length = _since(_LSF, texts)
    return 0 if _OUTPUT_FOLLOWS in texts[len(texts) - length :] else length


def _announced(texts: Sequence[str]) -> int:
    length = _since(_HEADING, texts)
    goes_on = any(map(_is_progress, texts[len(texts) - length :]))
    return 0 if goes_on else length


def _accounted(texts: Sequence[str]) -> int:
    """The last lines as far as they are a table of names and values."""
    length = accounted = 0
    for back, text in enumerate(reversed(texts), 1):
        if _ACCOUNTED.match(text) and not _is_progress(text):
            length, accounted = back, accounted + 1
        elif not _SEPARATOR.fullmatch(text):
            break
    return length if accounted >= _LEAST_ACCOUNTED else 0


def _since(heading: re.Pattern[str], texts: Sequence[str]) -> int:
    """Lines from the last such heading on."""
    return next((back for back, text in enumerate(reversed(texts), 1) if heading.match(text)), 0)


def _is_progress(text: str) -> bool:
    return PROGRESS.search(text) is not None
