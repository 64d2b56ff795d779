"""Numbers that a log states beside no count, and which of them a count of that name runs up to."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final
from unicodedata import combining, normalize

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import MAX_COUNT, clock_seconds
from schedmate.tracker.formats.quantities import COUNT, count_of
from schedmate.tracker.unknown.phase_plan import is_warmup, plan_in
from schedmate.tracker.unknown.words import vocabulary

QUANTIFIED, NAMED, RELATED, AMBIGUOUS, LETTERS = 0.8, 0.6, 0.5, 0.45, 0.4
"""`max_steps=900`; `900 steps`; `900 env steps` for steps; two numbers under one name; `s`."""
_MAX_LENGTH: Final = 1024
_MAX_NUMBERS: Final = 96
_MAX_LINES: Final = 400
_MAX_IN_LINE: Final = 48
_DIGITS: Final = b"0123456789.,+-eE "
_WORD = r"[^\W\d_][\w.-]{0,30}"
_CLOCK = r"\d{1,3}:\d{2}:\d{2}(?:\.\d{1,6})?"
_SMALL = r"\d(?:\.\d{1,9})?[eE]-\d{1,2}(?!\w)"
"""The end of a simulated time may be far below one."""
_BESIDE = rf"\s{{1,2}}(?P<unit>{_WORD})(?![\w.-]|\s{{0,3}}[:=]|\s{{1,3}}\d)"
_FORMS = lazy_pattern(
    rf"(?P<key>{_WORD}(?: {_WORD}){{0,3}})['\"]?"
    r"(?:\s{0,60}[:=|]\s{0,40}|\s{0,3}\.{3,60}\s{0,20})['\"]?"
    rf"(?:(?P<clock>{_CLOCK})|(?P<keyed>{_SMALL}|{COUNT}))(?![\w/:]|[.,]\d)(?=(?:{_BESIDE})?)"
    rf"|(?<![\w./:=-])(?<!\d,)(?P<number>{COUNT})\s{{1,2}}"
    rf"(?P<after>{_WORD}(?: {_WORD}(?![\w.-]|\s{{0,3}}[:=]))?)(?![\w.-]|\s{{0,3}}[:=])"
    rf"|(?P<before>{_WORD}(?: {_WORD}){{0,2}})\s{{1,20}}"
    rf"(?:(?P<span>{_CLOCK})(?![\w:])|(?P<alone>{COUNT})"
    r"(?=\s{0,4}(?:[,;)|](?!\d)|\.?$)))"
)
_UP_TO = lazy_pattern(
    r"\b(?:resum|restart|continu|start|begin|from)\w{0,5}\b.{0,40}?\b(?P<at>\d{1,12})\b.{0,60}?"
    rf"\b(?:until|up to|to|of|out of|through|till)\s(?:{_WORD}\s)?(?P<end>{COUNT})(?![\w/:.]\d)",
    re.IGNORECASE,
)
"""`resuming at epoch 25, training 35 more epochs (until 60)`."""
_PRODUCT = lazy_pattern(
    rf"(?<![\w./:-])(?P<rounds>{COUNT})\s(?P<round>{_WORD})\s?(?:x|\*|×|times|of)\s?"  # noqa: RUF001 - as printed
    rf"(?P<each>{COUNT})\s(?P<thing>{_WORD})(?: each\b)?",
    re.IGNORECASE,
)
_OF_THEM = lazy_pattern(
    rf"\b(?:train|us|process|tak|run|read)\w{{0,4}}(?: on| for| over)? (?P<some>{COUNT})"
    r" of (?:them|these|those|it|this|that)\b",
    re.IGNORECASE,
)
_DIRECTLY = lazy_pattern(r"\s{1,2}([^\W\d_]{1,30})")
_PIECES = lazy_pattern(r"[A-Z]?[^\W\dA-Z_]+|[A-Z]+(?![a-z])|[^\W\d_]+")
_QUANTIFIERS: Final = vocabulary(
    "total max maximum num number n nr tot target goal planned end final stop until limit all"
    " upto gesamt insgesamt anzahl maximal nombre max. total. número numero máximo всего 总 共"
    " budget for totalling totaling altogether"
)
_NEUTRAL: Final = vocabulary(
    "of the a to do run train training global optimizer opt outer simulation sim time-step"
    " current i cur with over using in on will and model main this de des du di der"
)
_SOMETHING_ELSE: Final = vocabulary(
    "warmup warm eval evaluation validation val valid test decay scheduler lr save saving log"
    " logging per every each profile accumulation inference sampling diffusion denoising"
    " download queue pretrain burnin cooldown freeze frozen solver patience early stopping"
    " ema swa print report checkpoint ckpt local inner size length len dim interval freq"
    " frequency window first last next after before since than ago seed skip skipping from"
    " more additional further resume resumed resuming loaded start begin history buffer keep"
    " cache batch rollout"
    " horizon min minimum hidden prefetch epoch_size delay"
)
_SYNONYMS: Final = {
    "it": "iter", "itr": "iter", "iteration": "iter", "upd": "update", "ep": "epoch",
    "gen": "generation", "img": "image", "tok": "token", "t": "time", "duration": "time",
    "eps": "episode", "durchgang": "durchlauf", "minibatche": "batch", "batche": "batch",
    "passe": "pass", "epochen": "epoch", "epoche": "epoch", "époque": "epoch", "época": "epoch",
    "итерация": "iter", "эпоха": "epoch", "эпох": "epoch",
}  # fmt: skip
_PREPOSITIONS: Final = vocabulary("in on from within at by of for to de des du di")
_OF_DATA: Final = vocabulary(
    "loaded loading from inference sampling evaluation eval test validation horizon"
)
"""Words that make `900 steps` those of something else, but not `900 prompts`."""
_WAITING: Final = vocabulary("queue loaded loading cache buffer history")
"""Behind a number of things these say where they are: `64 scenes in queue`."""
_INDEX: Final = vocabulary(
    "idx index no nr num number id done finished processed completed requested planned wanted"
    " needed expected"
)
"""Behind the name of what is counted: `shard done idx=3`."""
_WORK: Final = vocabulary("step iter epoch update round batch pass timestep sweep generation")
_STOPS: Final = vocabulary("stop stops stopping ends end finish finishes halt halts quit quits")
_AT_LAST: Final = vocabulary("after at")
_ROUNDS: Final = vocabulary("epoch pass round cycle generation episode iter fold")
_DECLARING: Final = vocabulary("for total all max maximum of target totalling totaling altogether")
_SPANS: Final = vocabulary("length duration time span period end stop")
_TIME_OF_DAY: Final = vocabulary("time date current local system now wall clock utc the on at")
"""`Time: 19:37:35` with no other words is when the line was written, not how long a run takes."""
_PREFIXES: Final = ("num", "max", "tot", "n")
_SUFFIXES: Final = ("max", "end", "stop", "final", "total")
_PLURALS: Final = ("s", "n")
_SHORTEST: Final = 3


def stem_of(word: str) -> str:
    """`iterations`, `iters` and `it` are one name."""
    lowered = word.lower().rstrip(".")
    for ending in ("", "s"):
        bare = lowered.removesuffix(ending) if ending else lowered
        if bare in _SYNONYMS:
            return _SYNONYMS[bare]
    if not lowered.isascii():  # `Durchläufe` are more than one `Durchlauf`
        folded = "".join(one for one in normalize("NFD", lowered) if not combining(one))
        return stem_of(folded.removesuffix("e")) if folded.isascii() else lowered
    if lowered.endswith("ies") and len(lowered) > _SHORTEST + 1:
        return f"{lowered[:-3]}y"
    return lowered[:-1] if len(lowered) > _SHORTEST and lowered[-1] in _PLURALS else lowered


def pieces_of(name: str) -> list[str]:
    return [piece.lower() for piece in _PIECES.findall(name)]


@dataclass(frozen=True, slots=True)
class _Name:
    """What a number is called, without the words that only declare it to be a number of it."""

    stems: frozenset[str]
    head: str
    quantified: bool


@dataclass(slots=True)
class DeclaredNumber:
    words: list[str]
    value: float
    shape: int = field(default=0, compare=False)


@dataclass(slots=True)
class DeclaredNumbers:
    """A line that comes again with other numbers reports; only what comes once declares."""

    numbers: list[DeclaredNumber] = field(default_factory=list)
    shapes: dict[int, int] = field(default_factory=dict)
    """From the digest of a line without its digits to that of the line."""
    lines: int = 0
    plan: tuple[float, ...] = ()
    """The lengths of phases that follow each other, ..."""
    plan_shape: int = 0
    """... and the shape of the line that states them."""
    plan_proven: bool = True
    """Otherwise the first may be a part of the second."""

    def see(self, text: str) -> None:
        if self.lines >= _MAX_LINES:
            return
        self.lines += 1
        data = text[:_MAX_LENGTH].encode("utf-8", "replace")
        shape, line = zlib.crc32(data.translate(None, _DIGITS)), zlib.crc32(data)
        known = self.shapes.get(shape)
        if known is None:
            self.shapes[shape] = line
            if len(self.numbers) < _MAX_NUMBERS:
                self.numbers += [replace(one, shape=shape) for one in declared_in(text)]
            self._note_plan(plan_in(text), shape, proven=not is_warmup(text))
        elif known not in (line, 0):
            self.shapes[shape] = 0
            self.plan = () if shape == self.plan_shape else self.plan
            self.numbers = [one for one in self.numbers if one.shape != shape]

    def _note_plan(self, plan: tuple[float, ...], shape: int, *, proven: bool) -> None:
        if not plan:
            return
        self.plan, self.plan_shape, self.plan_proven = plan, shape, proven
        if not proven:
            return
        self.numbers = [one for one in self.numbers if one.value != sum(plan)]

    def total_of(self, names: Sequence[str], least: float) -> tuple[float, float] | None:
        """The number that a count of these names runs up to, and how far that is believed."""
        found = [one for name in names if (one := self._total_of(name, least))]
        return max(found, key=lambda one: one[1], default=None)

    def only_total(self, least: float) -> tuple[float, float] | None:
        """The one number that the log calls a total, for a count that bears no name of its own.

        Where it calls none so, the one thing that it states a number of and that can be counted.
        """
        names = [(_name_of(one.words), one.value) for one in self.numbers if one.value > 1]
        known = [(name, value) for name, value in names if name is not None]
        totals = {value for name, value in known if name.quantified and name.head in _KNOWN}
        things = {value for name, value in known if name.head in _KNOWN}
        for values in (totals, things):
            if values:
                return (max(values), RELATED) if len(values) == 1 and max(values) >= least else None
        return None

    def of_section(self, section: str, least: float) -> tuple[float, float] | None:
        """`train.run.iterations=900`: the one number of steps that is stated of a phase."""
        named = (one for one in self.numbers if section in one.words and one.value >= least)
        values = {one.value for one in named if stem_of(one.words[-1]) in _WORK}
        return (values.pop(), NAMED) if len(values) == 1 else None

    def _total_of(self, name: str, least: float) -> tuple[float, float] | None:
        count, pieces = _name_of(pieces_of(name)), pieces_of(name)
        short = pieces[-1] if pieces and pieces[-1] == name.strip().lower() else ""
        fitting: dict[float, set[float]] = {}
        for one in self.numbers:
            declared = _name_of(one.words)
            trust = 0.0 if count is None else _trust(declared, count)
            trust = trust or _trust_in_abbreviation(declared, short)
            if trust and one.value >= least and (one.value > 1 or _is_time(declared)):
                fitting.setdefault(trust, set()).add(one.value)
        if not fitting:
            return None
        trust = max(fitting)
        values = fitting[trust]
        return (max(values), trust) if len(values) == 1 else (max(values), AMBIGUOUS)


def declared_in(text: str) -> Iterator[DeclaredNumber]:
    text = text[:_MAX_LENGTH]
    yield from _up_to(text)
    yield from _products(text)
    yield from _some_of_them(text)
    for found in islice(_FORMS.finditer(text), _MAX_IN_LINE):
        value = _value(found)
        if value is None:
            continue
        words = pieces_of(found["key"] or found["before"] or "")
        if found["clock"] or found["span"]:
            words = [*words[:-1], "time"] if words[-1:] and words[-1] in _SPANS else words
        if found["after"]:
            verbs = _verb_before(text, found.start())
            names = list(_before_preposition(pieces_of(found["after"])))
            words = [*verbs, *names]
            if stem_of(names[-1]) not in _WORK:
                verbs = [word for word in verbs if word not in _OF_DATA]
                words = [*verbs, *names]
            behind = _behind(text, found)
            if len(names) < len(pieces_of(found["after"])) or stem_of(names[-1]) not in _WORK:
                behind = [word for word in behind if word not in _WAITING]
            of_another = not _SOMETHING_ELSE.isdisjoint([*words, *behind])
            if len(names) > 1 and names[0] != "time" and not of_another:  # `4000 time steps`
                yield DeclaredNumber([*verbs, names[0]], value)
        else:
            behind = _behind(text, found)
        unit = pieces_of(found["unit"] or "")
        if words and _SOMETHING_ELSE.isdisjoint([*words, *unit, *behind]):
            yield DeclaredNumber(words, value)
            if unit:
                yield DeclaredNumber(unit, value)


def _up_to(text: str) -> Iterator[DeclaredNumber]:
    """Where a run that goes on in the middle will end."""
    found = _UP_TO.search(text)
    end = count_of(found["end"]) if found else None
    if found is None or end is None or end <= float(found["at"]):
        return
    things = [stem for word in pieces_of(found[0]) if (stem := stem_of(word)) in _KNOWN]
    for thing in things[:1]:
        yield DeclaredNumber(["until", thing], end)


def _products(text: str) -> Iterator[DeclaredNumber]:
    """`12 passes x 2,043 updates`: so many of the second in all."""
    found = _PRODUCT.search(text)
    rounds, each = (count_of(found["rounds"]), count_of(found["each"])) if found else (None, None)
    if found and rounds and each and stem_of(found["round"]) in _ROUNDS:
        yield DeclaredNumber(["total", *pieces_of(found["thing"])], rounds * each)


def _some_of_them(text: str) -> Iterator[DeclaredNumber]:
    """`310B tokens in 1,204 shards (we will train on 20B of them)`."""
    found = _OF_THEM.search(text)
    some = count_of(found["some"]) if found else None
    for word in pieces_of(text) if some else ():
        if some and stem_of(word) in _KNOWN:
            yield DeclaredNumber(["total", word], some)


def _value(found: re.Match[str]) -> float | None:
    span = found["clock"] or found["span"]
    if span:
        words = pieces_of(found["key"] or found["before"] or "")
        of_day = words[-1:] == ["time"] and _TIME_OF_DAY.issuperset(words)
        return None if of_day else clock_seconds(span.partition(".")[0])
    text = found["keyed"] or found["number"] or found["alone"]
    value = float(text) if "-" in text else count_of(text)
    return value if value is not None and value < MAX_COUNT else None


def _verb_before(text: str, start: int) -> list[str]:
    """`for 900 steps` and `a total of 900 steps` declare; `every 900 steps` does something else."""
    before = pieces_of(text[max(0, start - 32) : start])[-3:]
    if before[-1:] and before[-1] in _AT_LAST and not _STOPS.isdisjoint(before):
        return [] if "early" in before else ["stop"]
    before = before[-2:]
    return [word for word in before if word in _SOMETHING_ELSE or word in _DECLARING]


def _behind(text: str, found: re.Match[str]) -> list[str]:
    """`312 steps per epoch`, `312 steps/epoch`."""
    end = found.end("after" if found["after"] else "unit")
    if end < 0:
        return []
    behind = text[end : end + 12]
    if behind[:1] == "/":
        return ["per"]
    word = _DIRECTLY.match(text[end : end + 32])
    return pieces_of(word[1])[:1] if word else []


def _name_of(words: Sequence[str]) -> _Name | None:
    quantified = not _QUANTIFIERS.isdisjoint(words)
    words = _before_preposition(words)
    own = [word for word in words if word not in _QUANTIFIERS and word not in _NEUTRAL]
    while len(own) > 1 and own[-1] in _INDEX:
        own.pop()
    if not own or (len(own[-1]) == 1 and own[-1] not in _SYNONYMS):
        return None
    stems = []
    for word in own:
        bare = _without_quantifier(word)
        quantified = quantified or bare != word
        stems.append(stem_of(bare))
    return _Name(frozenset(stems), stems[-1], quantified)


def _before_preposition(words: Sequence[str]) -> Sequence[str]:
    """`total reads in library` are reads."""
    for place, word in enumerate(words):
        things = [one for one in words[:place] if one not in _QUANTIFIERS | _NEUTRAL]
        if word in _PREPOSITIONS and things:
            return words[:place]
    return words


def _without_quantifier(word: str) -> str:
    """`ngen`, `maxiter` and `tmax` hold the name and that it is a number of it."""
    if word in _SYNONYMS or stem_of(word) != word.rstrip("sn").lower():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and word != suffix:
            bare = word.removesuffix(suffix)
            return bare.removeprefix("n") if bare.removeprefix("n") in _SYNONYMS else bare
    for prefix in _PREFIXES:
        rest = word.removeprefix(prefix)
        if rest != word and (rest in _SYNONYMS or stem_of(rest) in _KNOWN):
            return rest
    return word


_KNOWN: Final = frozenset(_SYNONYMS.values()) | vocabulary(
    "step timestep token image iter epoch update generation episode round sample trial day"
    " cycle sweep frame event photon particle tree game block tick combination config"
    " configuration chunk file job read fit tile"
)


def _trust(declared: _Name | None, count: _Name) -> float:
    if declared is None or declared.head != count.head:
        return 0.0
    if declared.stems != count.stems:
        return RELATED if declared.stems > count.stems or declared.stems < count.stems else 0.0
    return QUANTIFIED if declared.quantified else NAMED


def _is_time(declared: _Name | None) -> bool:
    return declared is not None and declared.quantified and declared.head == "time"


def _trust_in_abbreviation(declared: _Name | None, short: str) -> float:
    """`u 300` below `24,516 updates`, `therm 300` below `thermalisation: 900`."""
    if declared is None or not short or not declared.head.startswith(short):
        return 0.0
    if len(short) >= _SHORTEST:
        return NAMED
    return LETTERS if declared.head in _KNOWN and len(declared.stems) == 1 else 0.0
