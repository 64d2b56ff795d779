"""Headings that name one of several equal things, inside each of which something is counted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sighting, counted

_MAX_LENGTH = 160
_HEADING = lazy_pattern(
    r"[^\w]{0,20}(?P<words>(?:[^\W\d_][^\W\d]{0,20}[\s:#=]{1,3}){0,4})[\[(]?(?P<index>\d{1,4})"
    r"\s{0,2}(?:/|of|out of)\s{0,2}(?P<of>\d{1,4})(?![\w.%]|\s?[a-z]{0,2}B\b)(?P<rest>.{0,120})"
)
_ENDED = lazy_pattern(
    r"(?i)\b(?:ok|done|finished|completed?|processed|failed|skipped|passed|written|saved|took)\b"
    r"|[=:]\s{0,3}\d"
)
_MEASURED = lazy_pattern(r"\d\.\d")
_UNEQUAL, _EQUAL = 0.4, 0.5
_MANY = 3
_MAX_PLAIN = 8


@dataclass(slots=True)
class Headings:
    """`archive 1/8` above lines that count its bytes; a count that merely goes on is no heading."""

    name: str = ""
    of: float = 0.0
    index: float = 0.0
    counts: int = 0
    """How many lines had counted something when the newest heading came."""
    order: int = 0
    """The newest line that the learnt format read."""
    first: float = 0.0
    """The total of a heading that came before anything was counted."""
    hold_counts: bool = False
    """Something was counted between the first of those headings and the next."""
    plain: list[str] = field(default_factory=list)

    def see(self, text: str, counts: int) -> Sighting | None:
        found = _HEADING.fullmatch(text) if len(text) <= _MAX_LENGTH else None
        pair = None if found is None else counted(found["index"], found["of"])
        if found is None or pair is None or pair[1] <= 1:
            return None
        index, of = pair
        if index <= 1 and counts == 0:
            self.first = of
        self.hold_counts = self.hold_counts or (index > 1 and of == self.first and counts > 0)
        if _ENDED.search(found["rest"]):
            return None
        name = " ".join(found["words"].lower().split()) or "[]"
        if name in self.plain:
            return None
        if (name, of) != (self.name, self.of):
            if index > 1 or (self.index and counts == self.counts):
                return None
            self.name, self.of = name, of
        elif counts == self.counts and index > self.index:
            self.index = index
            self.plain = [*self.plain, name][-_MAX_PLAIN:]
            return None
        self.index, self.counts = index, counts
        return self.sighting()

    def begun(self, text: str, sighting: Sighting, order: int) -> Sighting:
        """`File 3/12: run_03.raw` above other lines names the one that has begun."""
        apart, self.order = order > self.order + 1, order
        if self.hold_counts and sighting.total == self.of:
            return replace(sighting, ordinal="begun")
        bare = sighting.total is not None and not sighting.metrics and sighting.epoch is None
        found = _HEADING.fullmatch(text) if apart and bare and len(text) <= _MAX_LENGTH else None
        if found is None or _ENDED.search(found["rest"]) or _MEASURED.search(found["rest"]):
            return sighting
        return replace(sighting, ordinal="begun")

    def counted_itself(self, total: float | None) -> bool:
        """Whether the headings have turned out to be the lines of a plain count."""
        if total is not None and total == self.of and self.name not in self.plain:
            self.plain = [*self.plain, self.name][-_MAX_PLAIN:]
        return self.name in self.plain

    def sighting(self) -> Sighting:
        return Sighting(
            unit="step",
            current=self.index,
            total=self.of,
            series=self.name,
            ordinal="begun",
            confidence=_EQUAL if self.index >= _MANY else _UNEQUAL,
        )


_SECTION = lazy_pattern(
    r"(?P<mark>[=#*~>-]{2,40}|[\u2500-\u257f]{2,80})\s{0,4}(?P<title>[^\W\d_].{0,59}?)"
    r"[\s=#*~<>\u2500-\u257f-]{0,80}"
)
_MARKS = frozenset("=#*~>-\u2500\u2501\u2550")
_RESULTS = lazy_pattern(
    r"(?i)\b(?:results?|summary|final\w{0,2}|done|finished|completed?|evaluation|test(?:ing)?|score\w?"
    r"|metrics|report|end|statistics|stats|timings?|profile)\b"
)
_STAMPS = r"[\W\d]{0,40}(?:(?:info|main|rank)\b[\W\d]{0,10}){0,2}"
_BEGINS = lazy_pattern(
    rf"(?i){_STAMPS}(?:(?:now )?(?:start|beginn?|launch|enter|resum)(?:ing)?"
    r"|train(?:ing)? (?:on|for|with|the)|fine-?tun(?:e|ing)|next|stage|phase)\b"
)
_PREPARES = lazy_pattern(
    rf"(?i){_STAMPS}(?:(?:pre)?load|download|fetch|tokeni[sz]|extract|unpack|index|prepar|pre-?process"
    r"|cach|read|scann|build|verify|copy|shuffl|stag|convert)ing\b"
)
_HEADING_LENGTH = 80


@dataclass(slots=True)
class Sections:
    """`### align ###`: lines of one kind above counts, each of which begins another of them."""

    kinds: dict[str, int] = field(default_factory=dict)
    """How much had been counted when one of this kind first came."""
    begun: int = 0
    """The newest line that began another section."""
    started: int = 0
    """The newest line that says in words that some work begins, ..."""
    prepared: int = 0
    """... or that something is made ready for it."""

    def see(self, text: str, order: int, counts: int) -> None:
        if len(text) <= _HEADING_LENGTH:
            self.started = order if _BEGINS.match(text) else self.started
            self.prepared = order if _PREPARES.match(text) else self.prepared
        found = (
            _SECTION.fullmatch(text) if text[:1] in _MARKS and len(text) <= _MAX_LENGTH else None
        )
        if found is None:
            return
        first = self.kinds.setdefault(found["mark"][:3], counts)
        if counts > first and not _RESULTS.search(found["title"]):
            self.begun = order
        if len(self.kinds) > _MAX_PLAIN:
            self.kinds.pop(next(iter(self.kinds)))
