"""How many things of a name of their own there are to do: `total_kimg: 2000`, `run_days = 30`."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting
from schedmate.tracker.formats.quantities import COUNT, count_of

_MAX_LENGTH = 2048
_THINGS = (
    "kimg", "ticks", "days", "years", "months", "cycles", "games", "matches", "transitions",
    "photons", "histories", "events", "orbits", "snapshots", "chunks", "draws", "tiles",
    "slices", "volumes", "scenes", "queries", "prompts", "questions", "molecules", "structures",
    "utterances", "videos", "clips", "documents", "pages", "blocks", "windows", "configurations",
)  # fmt: skip
_THING = "|".join(one.removesuffix("s") for one in _THINGS)
_NAMED = lazy_pattern(
    r"(?<![a-z])(?:total|num|n|max|number|run|sim(?:ulation)?|target|train|nr)"
    rf"(?:[_ -]of)?(?:[_ -](?:train|total|num))?[_ -](?P<thing>{_THING})s?"
    rf"['\"]?\s{{0,3}}[:=|]\s{{0,20}}['\"]?(?P<count>{COUNT})(?=$|[\s,;)\]}}|'\"]|\.$)",
    re.IGNORECASE,
)
_SENTENCE = lazy_pattern(
    r"\b(?:train(?:ing)?|run(?:ning)?|simulat(?:e|ing)|process(?:ing)?|generat(?:e|ing)|integrat"
    r"(?:e|ing)|play(?:ing)?|scor(?:e|ing)|render(?:ing)?|transport(?:ing)?|sampl(?:e|ing))"
    rf"(?: for| over)?(?: a total of)? (?P<count>{COUNT}) (?:\w{{1,16}} )?(?P<thing>{_THING})s?\b",
    re.IGNORECASE,
)
_PLANNED = lazy_pattern(
    rf"\b(?P<thing>{_THING})s? (?:to (?:do|run|process|play|render)|in total|planned)"
    rf"[\s:=]{{1,8}}(?P<count>{COUNT})(?![\w/:])",
    re.IGNORECASE,
)
_RUN = lazy_pattern(r"run\s{1,40}(?P<steps>\d{3,12})(?: upto)?")
"""The command of a simulator that repeats its script in its log."""
_WEAK = 0.5


class ThingsToDo:
    name = "to do"
    hints = (*(one.removesuffix("s") for one in _THINGS), "run ", "run\t")

    def read(self, line: str) -> Sighting | None:
        if len(line) > _MAX_LENGTH:
            return None
        run = _RUN.fullmatch(line.strip())
        if run is not None:
            return Sighting(unit="step", total=float(run["steps"]), confidence=_WEAK)
        found = _NAMED.search(line) or _SENTENCE.search(line) or _PLANNED.search(line)
        total = count_of(found["count"]) if found else None
        if found is None or not total or total <= 1:
            return None
        return Sighting(unit="step", total=total, series=found["thing"].lower())

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample('"total_kimg": 2000,', Sighting(unit="step", total=2000, series="kimg")),
        Sample("Training for 2000 kimg...", Sighting(unit="step", total=2000, series="kimg")),
        Sample(
            "NAMELIST: start 2001-01-01  run_days = 30  dt = 120 s",
            Sighting(unit="step", total=30, series="day"),
        ),
        Sample("run             2000000", Sighting(unit="step", total=2_000_000, confidence=0.5)),
        Sample("games to play: 400", Sighting(unit="step", total=400, series="game")),
        Sample("kimg_per_tick: 4", None),
        Sample("loaded 5000 documents", None),
        Sample("run 7", None),
        Sample("run " * 20_000, None),
    )
