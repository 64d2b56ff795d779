"""The sets of the exam, by whether somebody looked at them while the learner was built."""

from __future__ import annotations

from tracker.unknown import formats_first, formats_second, silent_first, silent_second
from tracker.unknown.exam import Log

SETS: dict[str, tuple[Log, ...]] = {
    "formats, looked at": formats_first.FORMATS,
    "formats, looked at later": formats_second.FORMATS,
    "no progress, looked at": silent_first.SILENT,
    "no progress, looked at later": silent_second.SILENT,
}
