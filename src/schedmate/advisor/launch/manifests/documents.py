"""YAML documents whose parts know their lines, looked into one key at a time.

Aliases are shared and nothing is copied, so that a small file cannot become a large one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence

_MAX_DEPTH = 60
_MAX_EVENTS = 50_000
_MAX_DOCUMENTS = 100


@dataclass(frozen=True, slots=True)
class Part:
    """A mapping, a list or a text of a document."""

    source: SourceFile
    node: Any

    @property
    def text(self) -> str | None:
        return self.node.value if self.node.id == "scalar" else None

    @property
    def line(self) -> int:
        """Of a block of text the first line of the text itself."""
        block = self.node.id == "scalar" and self.node.style in ("|", ">")
        return int(self.node.start_mark.line) + (2 if block else 1)

    @property
    def evidence(self) -> Evidence:
        lines = self.source.lines()
        text = lines[self.line - 1] if self.line <= len(lines) else ""
        return evidence(self.source.name, self.line, text)

    @property
    def word(self) -> Word:
        return Word(self.text or "", (self.evidence,))

    def items(self) -> Iterator[tuple[str, Part]]:
        if self.node.id != "mapping":
            return
        for key, value in self.node.value:
            if key.id == "scalar":
                yield key.value, replace(self, node=value)

    def get(self, *path: str) -> Part | None:
        part: Part | None = self
        for name in path:
            found = dict(part.items()) if part is not None else {}
            merged = dict(found["<<"].items()) if "<<" in found else {}
            part = found.get(name, merged.get(name))
        return part

    def parts(self) -> list[Part]:
        """The items of a list; a lone text is a list of one."""
        if self.node.id == "sequence":
            return [replace(self, node=each) for each in self.node.value]
        return [self] if self.text is not None else []

    def inner(self) -> list[Part]:
        """The mappings and lists that it has in it."""
        nodes = [value for _, value in self.items()] or self.parts()
        return [each for each in nodes if each.text is None]

    def number(self) -> int | None:
        text = (self.text or "").strip()
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else None  # noqa: PLR2004 - digits of a count


def documents(source: SourceFile) -> list[Part]:
    """Nothing where it is no YAML, or not of a sane size."""
    import yaml  # noqa: PLC0415 - most scripts are none

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for count, event in enumerate(yaml.parse(source.text, Loader=loader)):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH or count > _MAX_EVENTS:
                return []
        nodes = list(yaml.compose_all(source.text, Loader=loader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    return [Part(source, node) for node in nodes[:_MAX_DOCUMENTS] if node is not None]


def variables(part: Part | None) -> dict[str, Word]:
    """`A=b` in a list, `A: b` in a mapping, or `name:` and `value:` in a list of mappings."""
    found: dict[str, Word] = {}
    if part is None:
        return found
    for name, value in part.items():
        if value.text is not None:
            found[name] = value.word
    for each in part.parts():
        named, set_to = each.get("name"), each.get("value")
        if named is not None and named.text and set_to is not None and set_to.text is not None:
            found[named.text] = set_to.word
        elif each.text and "=" in each.text:
            variable, _, text = each.text.partition("=")
            found[variable] = replace(each.word, text=text)
    return {name: word for name, word in found.items() if name.isidentifier()}
