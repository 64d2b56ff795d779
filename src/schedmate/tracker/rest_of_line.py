"""What a line states besides the count that its format reads: a total, a share, the time left.

The formats read what is typical of them; a home-made line often adds more, in a generic form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats import Sighting
from schedmate.tracker.formats.base import counted
from schedmate.tracker.formats.quantities import (
    COUNT,
    DURATION,
    count_of,
    seconds_of,
    speeds_in,
)
from schedmate.tracker.formats.total_names import total_names
from schedmate.tracker.preliminaries import names_preliminary
from schedmate.tracker.time_pairs import pair_of_times

_MAX_LENGTH = 1024
_OF = r"\s{0,3}(?:/|of|out of|von|sur|de)\s{0,3}"
_PAIR = lazy_pattern(rf"(?<![\w./:-])({COUNT}){_OF}({COUNT})(?![\w/:]|\.\d)")
_SHARE = lazy_pattern(
    r"(?<![\w.])(\d{1,3}(?:\.\d{1,6})?)\s?% ?"
    r"(?:done|completed?|finished|of (?:the )?(?:training|run)|trained|through)\b"
    r"|^[\[(<|]\s{0,4}(\d{1,3}(?:\.\d{1,6})?)\s?%\s{0,2}[\])>|]"
    r"|\b(?:progress|done|completed?|overall)\s{0,3}[:=(\[]\s{0,3}(\d{1,3}(?:\.\d{1,6})?)\s?%",
    re.IGNORECASE,
)
_LEFT = lazy_pattern(
    rf"(?:(?:about|around|approx\.?|circa|~)\s?)?(?<![\w.])({DURATION})\s{{0,2}}"
    r"(?:left|to go|remaining|remain|until (?:done|the end)|more to go)\b",
    re.IGNORECASE,
)
_NAMED_LEFT = lazy_pattern(
    r"\b(?:eta|etc|remaining|(?:time|est\.?|estimated)[ _](?:left|remaining|to go)"
    rf"|(?:ends|ending|finish(?:es|ing)?|done) in)\b[\s:=~(]{{1,6}}"
    rf"(?:(?:about|around|roughly|approx\.?|circa)\s)?({DURATION})(?![\w:])",
    re.IGNORECASE,
)
_LEFT_HINTS = (" left", "to go", "remain", "eta", "until", "ends in", "finish", "done in")
_BATCHES = lazy_pattern(
    rf"(?<![\w./-])({COUNT}) (?:training )?(?:batches|minibatches|steps|iterations|iters|updates)"
    r"\b(?! (?:done|seen|so far|left|ago|/))",
    re.IGNORECASE,
)
_SPAN_AT_END = lazy_pattern(rf"[\s|,;(\[]({DURATION})[)\]]?\s{{0,4}}$", re.IGNORECASE)
_STARTS_WITH_TIME = lazy_pattern(
    r"[\[(|+\s]{0,4}(\d{1,9}(?:\.\d{1,6})?\s?(?:ms|s|sec|m|min|h|hrs?))[\])|:,]?\s"
)
_STARTS = lazy_pattern(r"\b(?:start|begin|resum|in \d)", re.IGNORECASE)
_TOOK = lazy_pattern(rf"\b(?:in|took|taking)[\s:=]{{1,3}}({DURATION})(?![\w:])", re.IGNORECASE)
_IN_BAR = lazy_pattern(
    r"\[(?:\d{1,12}/\d{1,12} )?(?P<bar>\d{1,6}:\d{2}(?::\d{2})?)<(?:\d|\?)"
    r"|/\d{1,12} \[(?P<end>\d{1,6}:\d{2}(?::\d{2})?)\]$"
)
_IN_FRONT = lazy_pattern(r"[\[(]\s{0,4}(\d{1,6})\s{0,2}/\s{0,2}(\d{1,6})\s{0,2}[\])]\s")
_WORD_BEFORE = lazy_pattern(r"([^\W\d_]{1,24})\W{0,4}$")
_FPS = lazy_pattern(rf"\b[fs]ps[\s:=|]{{1,12}}({COUNT})(?![\w/:])")
_FRAMES = ("timesteps", "frames", "frame", "timestep")
_ALL = 100.0
_BY_ITS_NAME = 0.75
_COUNTS: dict[Unit, tuple[str, ...]] = {
    "step": ("it", "iter", "step", "iteration", "update"),
    "epoch": ("epoch",),
}


@dataclass(frozen=True, slots=True)
class RestHints:
    """What lines that differ only in their digits may state besides their count."""

    total: bool
    left: bool
    since_start: bool
    speed: bool
    steps: bool
    of_time: bool
    ended: bool
    """The line of an epoch ends with how long it took."""
    preliminary: bool
    """They name a phase that others follow: a warm-up, a burn-in."""

    @property
    def any(self) -> bool:
        of_count = self.total or self.steps or self.ended or self.preliminary
        return of_count or self.left or self.since_start or self.speed


def rest_hints(text: str) -> RestHints:
    text = text[:_MAX_LENGTH]
    return RestHints(
        total=_PAIR.search(text) is not None or "%" in text,
        left=_left(text) is not None,
        since_start=_since_start(text) is not None,
        speed=_FPS.search(text) is not None or bool(speeds_in(text, text.lower())),
        steps=_BATCHES.search(text) is not None,
        of_time=pair_of_times(text) is not None,
        ended=span_of_unit(text) is not None and _STARTS.search(text) is None,
        preliminary=names_preliminary(text),
    )


def completed(
    text: str,
    sighting: Sighting,
    hints: RestHints,
    announced: Mapping[str, float],
    *,
    generic: bool,
) -> Sighting:
    """The sighting of a count with what else its line states; unchanged where it states all.

    A framework's format leaves out the total of an ordinal for a reason; a `generic` one does not.
    """
    if sighting.current is None or sighting.phase is not None or not (hints.any or announced):
        return sighting
    text, found = text[:_MAX_LENGTH], sighting
    if sighting.total is None and (generic or sighting.ordinal is None):
        found = _with_total(text, _with_named_count(text, sighting, announced), hints)
    if hints.steps and found.ordinal == "begun" and found.unit == "epoch":
        found = replace(found, steps_per_epoch=_steps_of_epoch(text))
    if generic and found.ordinal == "begun" and hints.ended:
        found = replace(found, ordinal="ended")
    if hints.since_start and found.elapsed_s is None:
        found = replace(found, elapsed_s=_since_start(text))
    if hints.speed and found.rate_per_s is None:
        found = replace(found, rate_per_s=_speed(text, found))
    if hints.left and found.eta_s is None:
        found = replace(found, eta_s=_left(text))
    return replace(found, preliminary=True) if hints.preliminary else found


def outer_in(text: str, sighting: Sighting) -> Sighting | None:
    """`[2/25] it 350`: the pair in front counts what holds the count without a total."""
    if sighting.total is not None:
        return _pair_before(text[:_MAX_LENGTH], sighting)
    found = _IN_FRONT.match(text) if sighting.epoch is None else None
    counts = None if found is None else counted(found[1], found[2])
    if counts is None or counts[0] == sighting.current or sighting.unit == "epoch":
        return None
    return Sighting(
        unit="epoch",
        current=counts[0],
        total=counts[1],
        series="[]",
        ordinal="begun",
        epoch=counts[0],
        epochs=counts[1],
    )


def _pair_before(text: str, sighting: Sighting) -> Sighting | None:
    """`level 2/8 step 350/1000`: it holds the count if that goes round each time it moves."""
    own = re.search(rf"(?<!\d){sighting.current or 0:.0f}(?!\d)", text)
    end = 0 if own is None or sighting.epoch is not None else own.start()
    for one in _PAIR.finditer(text, 0, end):
        current, total = count_of(one[1]), count_of(one[2])
        if (current, total) == (sighting.current, sighting.total):
            return None
        before = _WORD_BEFORE.search(text[: one.start()])
        if current is not None and total is not None and 1 < total >= current:
            name = before[1].lower() if before else "[]"
            return Sighting(
                unit="step", current=current, total=total, series=f"outer {name}",
                ordinal="begun", confidence=_BY_ITS_NAME,
            )  # fmt: skip
    return None


def _with_total(text: str, sighting: Sighting, hints: RestHints) -> Sighting:
    if sighting.total is not None or not (hints.total or sighting.metrics):
        return sighting
    for one in _PAIR.finditer(text):
        total = count_of(one[2])
        if (
            count_of(one[1]) == sighting.current
            and total
            and total >= max(2, sighting.current or 0)
        ):
            return replace(sighting, total=total)
    total = _named_total(sighting)
    return _with_share(text, sighting) if total is None else replace(sighting, total=total)


def _named_total(sighting: Sighting) -> float | None:
    """`max_it=1000` behind a bar that does not state its total."""
    for name in _COUNTS.get(sighting.unit or "step", ()):
        for total_name in total_names(name):
            total = sighting.metrics.get(total_name, 0.0)
            if total.is_integer() and total >= max(2.0, sighting.current or 0.0):
                return total
    return None


def _with_share(text: str, sighting: Sighting) -> Sighting:
    share = _SHARE.search(text) if "%" in text else None
    if share is None:
        return sighting
    percent = float(next(one for one in share.groups() if one is not None))
    return replace(sighting, share=percent) if percent <= _ALL else sighting


def _with_named_count(text: str, sighting: Sighting, announced: Mapping[str, float]) -> Sighting:
    """The count of what was announced, where the line names it beside another one."""
    for name, total in announced.items():
        count = _count_named(text, name)
        if sighting.series.rstrip("s") == name.rstrip("s"):
            if count and sighting.current:  # the format may count thousands as single ones
                return replace(sighting, total=total * sighting.current / count)
            continue
        if count is not None and count <= total:
            return replace(sighting, unit="step", current=count, total=total, series=name)
    return sighting


def named_count(text: str, announced: Mapping[str, float]) -> Sighting | None:
    """Where the run stands by a thing that it announced a number of: `tick 3  kimg 12.0`."""
    for name, total in announced.items():
        count = _count_named(text[:_MAX_LENGTH], name)
        if count is not None and count <= total:
            return Sighting(
                unit="step", current=count, total=total, series=name, confidence=_BY_ITS_NAME
            )
    return None


def _count_named(text: str, name: str) -> float | None:
    stem = name.rstrip("s")
    if stem not in text.lower():
        return None
    one = re.search(
        rf"(?<![^\W_])(?:total[_ ])?{re.escape(stem)}s?\b[\s:=#]{{1,6}}({COUNT})(?![\w/:]|\.\d)",
        text,
        re.IGNORECASE,
    )
    return count_of(one[1]) if one else None


def _steps_of_epoch(text: str) -> float | None:
    """`Epoch 3/10 (120 batches)`."""
    found = _BATCHES.search(text)
    steps = count_of(found[1]) if found else None
    return steps if steps and steps > 1 else None


def _since_start(text: str) -> float | None:
    """`[0.35h] update 7/200`, or a bar's `[00:03<00:12]`; it has to rise later."""
    found = _STARTS_WITH_TIME.match(text)
    bar = None if found is not None else _IN_BAR.search(text)
    if bar is not None:
        return seconds_of(bar["bar"] or bar["end"])
    return None if found is None else seconds_of(found[1])


def _speed(text: str, sighting: Sighting) -> float | None:
    if _counts_frames(sighting.series):
        return _frames_per_second(text)
    speeds = speeds_in(text, text.lower())
    unnamed = None if sighting.series else speeds.get("epoch")
    return speeds.get(sighting.unit or "step") or unnamed


def _counts_frames(series: str) -> bool:
    return series in _FRAMES or series.startswith("env")


def _frames_per_second(text: str) -> float | None:
    found = _FPS.search(text)
    return (count_of(found[1]) or None) if found else None


def _left(text: str) -> float | None:
    lowered = text.lower()
    if not any(hint in lowered for hint in _LEFT_HINTS):
        return None
    found = _LEFT.search(text) or _NAMED_LEFT.search(text)
    return None if found is None else seconds_of(found[1].lower())


def span_of_unit(text: str) -> float | None:
    """A duration in the line of a finished unit: of this unit, or since the start."""
    found = _SPAN_AT_END.search(text[-40:]) or _TOOK.search(text[:_MAX_LENGTH])
    return None if found is None or ":" in found[1] else seconds_of(found[1].lower())
