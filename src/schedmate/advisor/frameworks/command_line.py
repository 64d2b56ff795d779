"""A command line as a config (`--a.b=1`, `--flag`, `key=value`), over the file that it names."""

from __future__ import annotations

import re
from collections.abc import Sequence as Several
from dataclasses import dataclass

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Sequence, Table, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import assign, inherit, merge, parse_value, resolve, select
from schedmate.advisor.options.configs.building import made_of, value_of
from schedmate.advisor.options.configs.inheritance import read_any

_FLAG = re.compile(r"--?(?P<name>[A-Za-z][\w.\-/]{0,200})(?P<equal>=)?(?P<value>.*)", re.DOTALL)
_SETTING = re.compile(r"\+{0,2}(?P<name>[A-Za-z_][\w./@-]{0,200})=(?P<value>.*)", re.DOTALL)
_MAX_WORDS = 2000
_ENDINGS = (".yaml", ".yml", ".json", ".toml")


@dataclass(frozen=True, slots=True)
class Given:
    """`positional` are the words that are neither a flag, its value, nor a setting."""

    positional: tuple[Word, ...]
    options: Value

    def word(self, place: int) -> Word | None:
        return self.positional[place] if place < len(self.positional) else None


def read_command_line(
    words: Several[Word], *, switches: frozenset[str] = frozenset(), greedy: bool = False
) -> Given:
    """A flag takes the word behind it, or where `greedy` all of them; `switches` take none.

    `-` in the names of flags becomes `_`.
    """
    positional: list[Word] = []
    options = Value(Table({}), (), "cli")
    at = 0
    words = words[:_MAX_WORDS]
    most = _MAX_WORDS if greedy else 1
    while at < len(words):
        word = words[at]
        at += 1
        flag, setting = _FLAG.fullmatch(word.text), _SETTING.fullmatch(word.text)
        if flag is not None:
            name = flag["name"].replace("-", "_")
            taken = 0 if flag["equal"] or name in switches else _values_behind(words, at, most)
            value = _flag_value(word, flag, words[at : at + taken])
            at += taken
            options = assign(options, name, value)
        elif setting is not None:
            options = assign(options, setting["name"], parse_value(word, setting["value"]))
        else:
            positional.append(word)
    return Given(tuple(positional), options)


def _values_behind(words: Several[Word], at: int, most: int) -> int:
    count = 0
    while count < most and at + count < len(words):
        text = words[at + count].text
        if _FLAG.fullmatch(text) or (count and _SETTING.fullmatch(text)):
            break
        count += 1
    return count


def _flag_value(word: Word, flag: re.Match[str], behind: Several[Word]) -> Value:
    if flag["equal"]:
        return parse_value(word, flag["value"])
    if not behind:
        return made_of(word, data=True)
    if len(behind) == 1:
        return parse_value(behind[0])
    items = [parse_value(each) for each in behind]
    return Value(Sequence(items), behind[0].evidence, value_of(behind[0]).source)


def named_config(words: Several[Word], context: Context) -> Value:
    """The first word that is a config file of the job; an empty table where none is."""
    for word in words:
        if word.known and word.text.lower().endswith(_ENDINGS):
            return config_at(word.text, context)
    return nothing_known(complete=True)


def config_at(path: object, context: Context) -> Value:
    """With all it inherits; not complete where it is not there."""
    found = read_any(path, context) if isinstance(path, str) and path else None
    if found is None or not isinstance(found.data, Table):
        return nothing_known(complete=False)
    return inherit(found, str(path), context)


def with_options(config: Value, options: Value, context: Context) -> Value:
    """What the command line puts over a config, and `${…}` filled in after that."""
    return resolve(merge(config, options), context.environment)


def config_option(options: Value, names: str, context: Context) -> Value:
    """The config that a flag names: `--config x.yaml`."""
    for name in names.split():
        value = select(options, name)
        if value is not None and isinstance(value.data, str):
            return config_at(value.data, context)
    return nothing_known(complete=True)


def nothing_known(*, complete: bool) -> Value:
    return Value(Table({}, complete=complete), (), "config")
