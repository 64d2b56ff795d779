"""Formats in order of specificity. To add one: a file beside this one, and a line in `FORMATS`."""

from __future__ import annotations

from schedmate.tracker.formats.announcements import Announcements
from schedmate.tracker.formats.base import LineFormat, Sample, Sighting
from schedmate.tracker.formats.jsonlines import JsonLines
from schedmate.tracker.formats.keyvalue import KeyValue
from schedmate.tracker.formats.tqdm import Tqdm
from schedmate.tracker.formats.transformers import Transformers

FORMATS: tuple[LineFormat, ...] = (
    Transformers(),
    Tqdm(),
    JsonLines(),
    KeyValue(),
    Announcements(),
)

__all__ = ["FORMATS", "LineFormat", "Sample", "Sighting"]
