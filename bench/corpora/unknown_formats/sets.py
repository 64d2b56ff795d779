"""The sets, by whether they were looked at while the learner was built."""

from __future__ import annotations

from bench.corpora.unknown_formats import (
    formats_fifth,
    formats_fifth_science,
    formats_first,
    formats_fourth,
    formats_second,
    formats_third,
    silent_fifth,
    silent_first,
    silent_second,
)
from bench.corpora.unknown_formats.labels import Log

SETS: dict[str, tuple[Log, ...]] = {
    "formats, looked at": formats_first.FORMATS,
    "formats, looked at later": formats_second.FORMATS,
    "formats, looked at last": formats_third.FORMATS,
    "formats, never looked at": formats_fourth.FORMATS,
    "formats, by another hand": formats_fifth.FORMATS + formats_fifth_science.FORMATS,
    "no progress, looked at": silent_first.SILENT,
    "no progress, looked at later": silent_second.SILENT,
    "no progress, looked at last": formats_third.SILENT,
    "no progress, never looked at": formats_fourth.SILENT,
    "no progress, by another hand": silent_fifth.SILENT,
}
