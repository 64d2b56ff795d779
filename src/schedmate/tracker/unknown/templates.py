"""Templates from a stream of lines: lines that differ only in their numbers are one template.

The way of most lines is one `translate` and one look-up. Only a new shape costs more: names with
digits in them and paths are masked, and words that keep varying at one place are merged.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Final

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.unknown.numbers import BAR, head_of

_NOT_SHAPE: Final = bytes(range(0x80, 0x100)) + b"0123456789.,+-eE \t_=>#*"
_MAX_TEMPLATES: Final = 24
_MAX_SHAPES: Final = 160
_MAX_HELD: Final = 18_000
_SAMPLE_COST: Final = 130
_FIRST, _LATEST = 7, 9
_VARIANTS: Final = 4
_MAX_DIFFERING: Final = 2
_FIRST_LOOK: Final = 3
_ANYTHING: Final = "\N{ASTERISM}"
_PAIR = lazy_pattern(
    r"(?<![\d.,/-])\d[\d,]{0,15}\s{0,3}(/|of|von|sur|de)\s{0,3}(\d[\d,]{0,15})(?![\d./-])"
)
_WHOLE, _POINT = "\N{BULLET}", "\N{BULLET OPERATOR}"
_WORDY = lazy_pattern(r"[^\s\d.,+\-eE]")
_DIGIT = lazy_pattern(r"\d")
_VARIES = lazy_pattern(r"\d|\w/\w")


@dataclass(slots=True)
class Samples:
    """The first and the latest lines of a template; `nth` counts all of them, kept or not."""

    texts: list[str] = field(default_factory=list)
    orders: list[int] = field(default_factory=list)
    nths: list[int] = field(default_factory=list)
    times: list[float | None] = field(default_factory=list)

    def add(self, text: str, order: int, nth: int, at: float | None) -> None:
        if len(self.texts) >= _FIRST + _LATEST:
            for column in (self.texts, self.orders, self.nths, self.times):
                del column[_FIRST]
        self.texts.append(text)
        self.orders.append(order)
        self.nths.append(nth)
        self.times.append(at)

    @property
    def held(self) -> int:
        return sum(map(len, self.texts)) + _SAMPLE_COST * len(self.texts)


@dataclass(slots=True)
class Template:
    words: list[str]
    """Masked; what varies is an empty word."""
    count: int = 0
    look_at: int = _FIRST_LOOK
    """The count at which it is worth judging again."""
    samples: Samples = field(default_factory=Samples)
    header: str = ""
    """The line without numbers right before its first."""

    def looked(self) -> None:
        self.look_at = max(self.count + 1, self.count * 3 // 2)

    @property
    def last(self) -> int:
        return self.samples.orders[-1] if self.samples.orders else 0


@dataclass(slots=True)
class Miner:
    """Bounded in templates, shapes and bytes of samples for any input."""

    templates: dict[int, Template] = field(default_factory=dict)
    shapes: dict[int, int] = field(default_factory=dict)
    """From the digest of a shape to its template; 0 is none."""
    pairs: dict[str, int] = field(default_factory=dict)
    """Separators and totals, by the number of shapes they were in."""
    made: int = 0
    header: str = ""

    def add(self, text: str, order: int, at: float | None) -> int:
        """Return the number of the line's template, 0 where it has none."""
        text = head_of(text)
        shape = zlib.crc32(text.encode("utf-8", "replace").translate(None, _NOT_SHAPE))
        if shape == 0:
            shape = zlib.crc32("".join(masked(text)).encode())
        known = self.shapes.get(shape)
        if known is None:
            known = self._new_shape(shape, text)
        template = self.templates.get(known)
        if template is None:
            return 0
        template.count += 1
        template.samples.add(text, order, template.count, at)
        return known

    def _new_shape(self, shape: int, text: str) -> int:
        if len(self.shapes) >= _MAX_SHAPES:
            self.shapes.clear()
        if not _DIGIT.search(text):
            self.header = text
            return self._remember(shape, 0)
        self._shrink()
        words = masked(text)
        known = self._fitting(words)
        if known is None and (pair := self._paired(text)):
            words, known = pair, self._fitting(pair)
        if known is not None:
            return self._remember(shape, known)
        self.made += 1
        self.templates[self.made] = Template(words, header=self.header)
        self.header = ""
        return self._remember(shape, self._merged(self.made))

    def _fitting(self, words: list[str]) -> int | None:
        fitting = (name for name, known in self.templates.items() if fits(known.words, words))
        return next(fitting, None)

    def _paired(self, text: str) -> list[str]:
        """Lines that share nothing but `12/900` between ever other words are one template."""
        pair = _PAIR.search(text)
        if pair is None:
            return []
        key = f"{pair[1]}{pair[2]}"
        if len(self.pairs) >= _MAX_TEMPLATES:
            self.pairs.clear()
        self.pairs[key] = self.pairs.get(key, 0) + 1
        return [_ANYTHING, key] if self.pairs[key] > _VARIANTS else []

    def _remember(self, shape: int, name: int) -> int:
        self.shapes[shape] = name
        return name

    def _merged(self, newest: int) -> int:
        """Where one place has had several words already, any word may stand there."""
        words = self.templates[newest].words
        alike = [name for name, other in self.templates.items() if _differing(other.words, words)]
        if len(alike) + 1 < _VARIANTS:
            return newest
        oldest = self.templates[alike[0]]
        for name in (*alike[1:], newest):
            other = self.templates.pop(name)
            oldest.words = [
                one if one == two else ""
                for one, two in zip(oldest.words, other.words, strict=True)
            ]
            _take_over(oldest, other)
        self.shapes = {
            shape: name if name in self.templates or name == 0 else alike[0]
            for shape, name in self.shapes.items()
        }
        return alike[0]

    def _shrink(self) -> None:
        """Forget what came least often, the longest ago."""
        held = sum(template.samples.held for template in self.templates.values())
        while self.templates and (len(self.templates) >= _MAX_TEMPLATES or held > _MAX_HELD):
            least = min(self.templates, key=self._worth)
            held -= self.templates.pop(least).samples.held
            self.shapes = {shape: name for shape, name in self.shapes.items() if name != least}

    def _worth(self, name: int) -> tuple[int, int]:
        template = self.templates[name]
        return template.count.bit_length(), template.last


def masked(text: str) -> list[str]:
    """The words of a line, those that hold digits or are paths made empty.

    Of a line of bare numbers the kinds of its columns are all there is to know it by.
    """
    if not _WORDY.search(text):
        return [_POINT if "." in number else _WHOLE for number in text.split()]
    return ["" if _VARIES.search(word) else word for word in BAR.sub("[]", text).split()]


def fits(known: list[str], words: list[str]) -> bool:
    if len(known) != len(words):
        return False
    return all(one in ("", two) for one, two in zip(known, words, strict=True))


def _differing(known: list[str], words: list[str]) -> bool:
    """Whether two templates differ in a few words only, and have as many in common."""
    if len(known) != len(words) or known == words or _ANYTHING in (known[0], words[0]):
        return False
    differing = sum(one != two for one, two in zip(known, words, strict=True))
    return differing <= _MAX_DIFFERING and 2 * differing <= len(words)


def _take_over(oldest: Template, other: Template) -> None:
    for index, text in enumerate(other.samples.texts):
        oldest.count += 1
        samples = other.samples
        oldest.samples.add(text, samples.orders[index], oldest.count, samples.times[index])
