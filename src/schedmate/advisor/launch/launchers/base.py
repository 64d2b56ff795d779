"""How much of a command line belongs to a program that starts another one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.interpret.shell.spans import quote, word
from schedmate.advisor.interpret.shell.words import SourceMap, Span

PYTHON_WORD = Word("python")
_WITH_TWO = frozenset(("--mca", "-mca", "-genv", "-env", "-pe"))
"""Options of MPI and SGE that take a name and its value, as two words or with `=` between."""
_SHELL = (Word("bash"), Word("-c"))
_SETTING = frozenset(("-e", "--env", "-x", "--set-env", "--export", "--container-env"))
_RANGE = re.compile(r"[A-Za-z_]{1,20}=\d{1,6}:\d{1,6}", re.ASCII)
"""`JOB=1:4` of Kaldi's launchers."""
_VARIABLE = re.compile(r",(?=[A-Za-z_]\w{0,80}=)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Launched:
    """A launcher and what it is given: options by name, without dashes and with `_` for `-`.

    An option without a value is `true`; of one that is given twice the last counts.
    """

    name: str
    options: Mapping[str, Word] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """A program that runs a command given behind its own options.

    `verbs` are the words one of which must interpret it. Either `valued` are its options that take
    the next word and all others take none, or `flags` are those that take none and all others do.
    """

    verbs: tuple[tuple[str, ...], ...] = ()
    valued: frozenset[str] = frozenset()
    flags: frozenset[str] | None = None
    positionals: int = 0
    """How many words of its own come before the command."""
    starts_python: bool = False
    """What follows is a Python file or, with `-m`, a module."""
    starts_shell: bool = False
    """What follows is shell text, in one word or several."""
    shell_text: frozenset[str] = frozenset()
    """Its options that have shell text as their value: `-c "python train.py"`."""
    submits: bool = False
    """What follows is a script for a scheduler."""
    reads_commands: bool = False
    """Without a command, each line that it reads is one."""
    sets: frozenset[str] = _SETTING
    """Its options that set variables for what it runs."""
    workdir: frozenset[str] = frozenset()
    """Its options that say where the command runs."""
    mounts: frozenset[str] = frozenset()
    """Its options that give directories other names in a container."""
    runs_image: bool = False
    """Its positional is an image, which may have a command of its own."""


@dataclass(frozen=True, slots=True)
class Peeled:
    """`rest` is what runs; `own` the launcher's words that are no options."""

    rest: tuple[Word, ...]
    launched: Launched
    own: tuple[Word, ...] = ()
    env: Mapping[str, Word] = field(default_factory=dict)
    """Variables that it sets for what it runs: `docker run -e A=b`."""
    workdir: Word | None = None
    mounts: tuple[tuple[str, str], ...] = ()


def launcher(
    valued: str = "",
    *,
    verbs: str = "",
    flags: str | None = None,
    positionals: int = 0,
    starts_python: bool = False,
    starts_shell: bool = False,
    shell_text: str = "",
    submits: bool = False,
    reads_commands: bool = False,
    sets: str = "",
    workdir: str = "",
    mounts: str = "",
    runs_image: bool = False,
) -> Launcher:
    """`verbs` of several words have a `+` between them."""
    return Launcher(
        verbs=tuple(tuple(verb.split("+")) for verb in verbs.split()),
        valued=frozenset(valued.split()) | frozenset(shell_text.split()),
        flags=None if flags is None else frozenset(flags.split()),
        positionals=positionals,
        starts_python=starts_python,
        starts_shell=starts_shell,
        shell_text=frozenset(shell_text.split()),
        submits=submits,
        reads_commands=reads_commands,
        sets=frozenset(sets.split()) or _SETTING,
        workdir=frozenset(workdir.split()),
        mounts=frozenset(mounts.split()),
        runs_image=runs_image,
    )


def peel(name: str, program: Launcher, words: Sequence[Word]) -> Peeled | None:
    """Take a launcher off whose own name is gone already; None where it starts nothing."""
    reader = _Reader(program, words)
    if program.verbs and not reader.take_verb():
        return None
    reader.read()
    rest = tuple(words[reader.at :])
    options = reader.options
    texts = [options[name] for each in program.shell_text if (name := option_name(each)) in options]
    if texts:
        rest = (*_SHELL, texts[0])
    elif program.starts_python:
        rest = _python(rest, options)
    elif program.starts_shell and rest:
        rest = (*_SHELL, _together(rest))
    elif "m" in options and "-m" not in program.valued and rest:
        rest = (PYTHON_WORD, Word("-m"), *rest)
    return Peeled(
        rest,
        Launched(name, options),
        tuple(reader.own),
        reader.env,
        reader.workdir,
        tuple(reader.mounts),
    )


def option_name(text: str) -> str:
    return text.lstrip("-").replace("-", "_")


def _python(rest: tuple[Word, ...], options: Mapping[str, Word]) -> tuple[Word, ...]:
    if not rest or "no_python" in options:
        return rest
    if "m" in options or "module" in options:
        return (PYTHON_WORD, Word("-m"), *rest)
    if rest[0].text.rpartition("/")[2].startswith("python"):
        return rest
    return (PYTHON_WORD, *rest)


def _together(words: Sequence[Word]) -> Word:
    if len(words) == 1:
        return words[0]
    blank = Span(" ", (SourceMap.quoting(words[0].evidence), 1))
    spans = [span for each in words for span in (*quote(each), blank)][:-1]
    return word(spans, blank.at)


class _Reader:
    def __init__(self, program: Launcher, words: Sequence[Word]) -> None:
        self._program = program
        self._words = words
        self.at = 0
        self.options: dict[str, Word] = {}
        self.own: list[Word] = []
        self.env: dict[str, Word] = {}
        self.workdir: Word | None = None
        self.mounts: list[tuple[str, str]] = []

    def take_verb(self) -> bool:
        """Its own options may stand before the verb."""
        self._take_options()
        texts = [word.text for word in self._words[self.at :]]
        for verb in sorted(self._program.verbs, key=len, reverse=True):
            if tuple(texts[: len(verb)]) == verb:
                self.at += len(verb)
                return True
        return False

    def read(self) -> None:
        left = self._program.positionals
        while True:
            if self._take_options() or self.at >= len(self._words):
                return
            word = self._words[self.at]
            if left and _RANGE.fullmatch(word.text):
                self.at += 1
                continue
            if not left or self._starts_program(word):
                return
            self.own.append(word)
            left, self.at = left - 1, self.at + 1
            if not left and self._program.runs_image:
                return

    def _starts_program(self, word: Word) -> bool:
        return self._program.starts_python and word.text.endswith(".py")

    def _take_options(self) -> bool:
        """Whether `--` ended the options."""
        while self.at < len(self._words):
            text = self._words[self.at].text
            if text == "--":
                self.at += 1
                return True
            if not text.startswith("-") or text == "-":
                if _unset(self._words[self.at]) and self.at + 1 < len(self._words):
                    self.at += 1
                    continue
                return False
            self._take_option(text)
        return False

    def _take_option(self, text: str) -> None:
        word = self._words[self.at]
        name, equals, value = text.partition("=")
        self.at += 1
        if name in _WITH_TWO:
            following = self._words[self.at].text if self.at < len(self._words) else ""
            self.at += 1 if "=" in following else 2
        elif equals:
            self._set(name, replace(word, text=value))
        elif self._takes_value(name) and self.at < len(self._words):
            self._set(name, self._words[self.at])
            self.at += 1
        else:
            self.options[option_name(name)] = replace(word, text="true")

    def _set(self, name: str, value: Word) -> None:
        self.options[option_name(name)] = value
        if name in self._program.workdir:
            self.workdir = value
        if name in self._program.mounts:
            self.mounts += _mounts(value.text)
        if name in self._program.sets:
            for part in _VARIABLE.split(value.text):
                variable, equals, text = part.partition("=")
                if equals and variable.isidentifier():
                    self.env[variable] = replace(value, text=text)

    def _takes_value(self, name: str) -> bool:
        program = self._program
        if program.flags is None:
            return name in program.valued
        if name in ("-m", "--module") or name.replace("-", "_") in _underscored(program.flags):
            return False
        following = self._words[self.at].text if self.at < len(self._words) else ""
        return not (following.endswith(".py") or following.startswith("-"))


def _mounts(text: str) -> list[tuple[str, str]]:
    """`here:inside`, several with commas between, or `source=here,target=inside`."""
    keyed = dict(part.partition("=")[::2] for part in text.split(",") if "=" in part)
    source = keyed.get("source") or keyed.get("src")
    target = keyed.get("target") or keyed.get("destination") or keyed.get("dst")
    if source and target:
        return [(target.rstrip("/"), source)]
    return [pair for part in text.split(",") if (pair := mounted(part)) is not None]


def mounted(text: str) -> tuple[str, str] | None:
    """`host:inside[:ro]`, as the pair (inside, host)."""
    found = re.fullmatch(r"([^:,]{1,500}):(/[^:,]{0,500})(?::[\w,]{1,20})?", text)
    return None if found is None else (found[2].rstrip("/") or "/", found[1])


def _unset(word: Word) -> bool:
    """A bare variable that nothing sets: most often there for more options, and empty."""
    text = word.text
    return not word.known and text.startswith("$") and text.strip("${}").isidentifier()


def _underscored(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.replace("-", "_") for name in names)
