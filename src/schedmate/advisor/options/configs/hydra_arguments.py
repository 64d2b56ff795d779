"""The command line of a program under `@hydra.main`: which config, from where, and overrides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.interpret.shell.words import source_of
from schedmate.advisor.options.configs import override_text
from schedmate.advisor.options.configs.merging import steps

_WITH_VALUE = {
    "--config-path": "config_path",
    "-cp": "config_path",
    "--config-name": "config_name",
    "-cn": "config_name",
    "--config-dir": "config_dir",
    "-cd": "config_dir",
    "--experimental-rerun": "",
    "--package": "",
    "-p": "",
}
_OVERRIDE = re.compile(
    r"(?P<sign>\+\+|\+|~)?(?P<key>[\w$./-]{1,400})(?:@(?P<package>[\w.:]{0,400}))?"
    r"(?P<equal>=)?(?P<value>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class HydraArguments:
    """`config_path` and `config_name` replace those of `@hydra.main`; `config_dir` is searched
    besides. None where the command line does not give it.
    """

    config_path: Word | None
    config_name: Word | None
    config_dir: Word | None
    overrides: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Override:
    """`sign` is "", "+", "++" or "~"; a key with a slash is a group of configs."""

    sign: str
    key: str
    package: str | None
    value: Value
    has_value: bool


def read_arguments(words: Sequence[Word]) -> HydraArguments:
    found: dict[str, Word] = {}
    overrides: list[Word] = []
    wanted: str | None = None
    for word in words:
        name, equal, rest = word.text.partition("=")
        if wanted is not None:
            found[wanted], wanted = word, None
        elif name in _WITH_VALUE:
            if equal:
                found[_WITH_VALUE[name]] = Word(rest, word.evidence, word.known)
            else:
                wanted = _WITH_VALUE[name]
        elif not word.text.startswith("-"):
            overrides.append(word)
    return HydraArguments(
        found.get("config_path"), found.get("config_name"), found.get("config_dir"), (*overrides,)
    )


def parse_override(word: Word) -> Override | None:
    """None for a word that is no override."""
    match = _OVERRIDE.fullmatch(word.text)
    if match is None or not (match["equal"] or match["sign"] == "~"):
        return None
    if not steps(match["key"].strip("/")):
        return None
    value = Value(UNKNOWN_DATA, word.evidence, source_of(word.evidence))
    if word.known:
        value = override_text.parse(match["value"], word.evidence, source_of(word.evidence))
    return Override(
        match["sign"] or "", match["key"].strip("/"), match["package"], value, bool(match["equal"])
    )
