"""Which reader a config file needs, by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from schedmate.advisor.interpret.python.values import Sequence, Table, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import (
    gin_text,
    ini_text,
    json_text,
    toml_text,
    words_text,
    yaml_text,
)
from schedmate.advisor.options.configs.building import Builder, made_of
from schedmate.advisor.sources.files import SourceFile

_READERS: dict[str, Callable[[str, Builder], Value | None]] = {
    ".yaml": yaml_text.read,
    ".yml": yaml_text.read,
    ".json": json_text.read,
    ".json5": json_text.read,
    ".jsonc": json_text.read,
    ".toml": toml_text.read,
    ".ini": ini_text.read,
    ".cfg": ini_text.read,
    ".gin": gin_text.read,
}
_LONGEST_WORD = 20_000


def read(source: SourceFile) -> Value | None:
    """What a config file says; None where it is no config, or not one that can be read.

    A table that was too large to be read to its end is not `complete`. What a script writes has
    the script's name, but a path of its own.
    """
    reader = _READERS.get(PurePosixPath(source.path or source.name).suffix.lower(), words_text.read)
    return reader(source.text, Builder(source))


def parse_value(word: Word, text: str | None = None) -> Value:
    """A word, or the `text` in it that is the value, as YAML takes it: `[1, 2]`, `3e-4`, `x`."""
    whole = word.text if text is None else text
    parsed = (
        yaml_text.flow(whole, Builder(SourceFile("", ""))) if len(whole) < _LONGEST_WORD else None
    )
    return _shown_with(word, made_of(word, whole) if parsed is None else parsed)


def parse_text(text: Value, *, toml: bool = False) -> Value | None:
    """A text in the code or on the command line as YAML, of which JSON is a part, or as TOML."""
    if not isinstance(text.data, str) or len(text.data) > _LONGEST_WORD:
        return None
    reader = toml_text.read if toml else yaml_text.flow
    parsed = reader(text.data, Builder(SourceFile("", text.data)))
    return None if parsed is None else _stated_by(text, parsed)


def _stated_by(text: Value, value: Value) -> Value:
    match value.data:
        case Table() as table:
            parts = {name: _stated_by(text, part) for name, part in table.parts.items()}
            return Value(Table(parts, complete=table.complete), text.lines, text.source)
        case Sequence() as sequence:
            items = [_stated_by(text, item) for item in sequence.items]
            return Value(Sequence(items, sequence.complete), text.lines, text.source)
        case data:
            return Value(data, text.lines, text.source)


def _shown_with(word: Word, value: Value) -> Value:
    match value.data:
        case Table() as table:
            parts = {name: _shown_with(word, part) for name, part in table.parts.items()}
            return made_of(word, Table(parts))
        case Sequence() as sequence:
            return made_of(word, Sequence([_shown_with(word, item) for item in sequence.items]))
        case data:
            return made_of(word, data)
