"""A command line matched to a parser's declarations, as argparse does it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from schedmate.advisor.options.argparse_parser import Declared, Parser
from schedmate.advisor.options.given import Given
from schedmate.advisor.options.undeclared import looks_like_flag

_OPTIONAL = ("?", "*")
_SHORT = 2


@dataclass(frozen=True, slots=True)
class Match:
    """`flag` is None for a positional; `values` are the words it took."""

    declared: Declared
    flag: Given | None
    values: tuple[Given, ...] = ()
    negated: bool = False


@dataclass(slots=True)
class Matched:
    matches: list[Match] = field(default_factory=list)
    extras: list[Given] = field(default_factory=list)
    """Words that fit no declaration."""
    command: Given | None = None
    rest: tuple[Given, ...] = ()
    """What is left for the parser of the sub-command."""


def match(parser: Parser, words: Sequence[Given]) -> Matched:
    return _Matcher(parser, words).run()


class _Matcher:
    def __init__(self, parser: Parser, words: Sequence[Given]) -> None:
        self._parser = parser
        self._flags = {flag: each for each in parser.declared for flag in each.flags}
        self._positionals = [each for each in parser.declared if not each.flags]
        self._loose: list[Given] = []
        self._words = deque(words)
        self._order = {id(word): place for place, word in enumerate(words)}
        self._found = Matched()

    def run(self) -> Matched:
        while self._words:
            word = self._words.popleft()
            if word.text == "--" and word.known:
                self._loose += self._words
                self._words.clear()
            elif self._is_flag(word):
                self._option(word)
            elif self._is_command(word):
                self._found.command = word
                self._found.rest = tuple(self._words)
                self._words.clear()
            else:
                self._loose.append(word)
        self._share_out()
        return self._found

    def _is_flag(self, word: Given) -> bool:
        if word.text in self._flags:
            return True
        return looks_like_flag(word.text) and " " not in word.text.partition("=")[0]

    def _is_command(self, word: Given) -> bool:
        if not self._parser.commands or self._found.command is not None:
            return False
        needed = sum(_needs(each) for each in self._positionals)
        return len(self._loose) >= needed and (word.text in self._parser.commands or not word.known)

    def _option(self, word: Given) -> None:
        flag, equals, attached = word.text.partition("=")
        declared = self._find(flag)
        if declared is None:
            self._short(word)
        elif not declared.takes_values:
            negated = flag in declared.negative
            self._found.matches.append(Match(declared, word, negated=negated))
        elif equals:
            value = replace(word, text=attached)
            self._found.matches.append(Match(declared, word, (value,)))
        else:
            self._found.matches.append(Match(declared, word, self._values(declared, word)))

    def _find(self, flag: str) -> Declared | None:
        """Exactly, or by the only beginning that fits."""
        if flag in self._flags or (not flag.startswith("--") and len(flag) <= _SHORT):
            return self._flags.get(flag)
        fitting = {id(each): each for name, each in self._flags.items() if self._fits(flag, name)}
        return next(iter(fitting.values())) if len(fitting) == 1 else None

    def _fits(self, flag: str, name: str) -> bool:
        """`--num-layers` is likelier another parser's option than short for `--num-layers-x`."""
        whole_words = name[len(flag) :][:1] in ("-", "_", ".")
        return name.startswith(flag) and not (whole_words and self._parser.open)

    def _short(self, word: Given) -> None:
        """`-e3`, `-vvq`, or what is not declared."""
        declared = self._flags.get(word.text[:_SHORT])
        if declared is None or word.text.startswith("--"):
            self._undeclared(word)
        elif declared.takes_values:
            value = replace(word, text=word.text[_SHORT:])
            self._found.matches.append(Match(declared, word, (value,)))
        else:
            self._found.matches.append(Match(declared, word))
            if word.text[_SHORT:]:
                self._words.appendleft(replace(word, text=f"-{word.text[_SHORT:]}"))

    def _undeclared(self, word: Given) -> None:
        """An option of another parser, with the words behind it: they are likely its values."""
        self._found.extras.append(word)
        if "=" not in word.text:
            self._found.extras += self._take(None)

    def _values(self, declared: Declared, flag: Given) -> tuple[Given, ...]:
        taken = list(self._words) if declared.nargs == "..." else self._take(_most(declared))
        if declared.nargs == "...":
            self._words.clear()
        return tuple(word.behind(flag) for word in taken)

    def _take(self, most: int | None) -> list[Given]:
        taken: list[Given] = []
        while self._words and (most is None or len(taken) < most):
            if self._is_flag(self._words[0]) or self._words[0].text == "--":
                break
            taken.append(self._words.popleft())
        return taken

    def _share_out(self) -> None:
        """Words without a flag go to the positionals; what they leave over are extras."""
        loose = deque(self._loose)
        for declared, count in _shares(self._positionals, len(loose)):
            values = tuple(loose.popleft() for _ in range(min(count, len(loose))))
            if values or declared.nargs not in _OPTIONAL:
                self._found.matches.append(Match(declared, None, values))
        self._found.extras += loose
        self._found.extras.sort(key=lambda word: self._order.get(id(word), 0))


def _most(declared: Declared) -> int | None:
    if declared.nargs in ("*", "+"):
        return None
    return declared.nargs if isinstance(declared.nargs, int) else 1


def _needs(declared: Declared) -> int:
    if isinstance(declared.nargs, int):
        return declared.nargs
    return 0 if declared.nargs in (*_OPTIONAL, "...") else 1


def _shares(positionals: Sequence[Declared], words: int) -> Iterator[tuple[Declared, int]]:
    needed = sum(_needs(each) for each in positionals)
    spare = max(words - needed, 0)
    for declared in positionals:
        own = _needs(declared)
        if declared.nargs in ("*", "+", "..."):
            own, spare = own + spare, 0
        elif declared.nargs == "?" and spare:
            own, spare = 1, spare - 1
        yield declared, own
