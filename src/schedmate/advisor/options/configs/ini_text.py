"""INI files as values: sections of words, as `configparser` gives them."""

from __future__ import annotations

from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.options.configs.building import Builder

_COMMENTS = ("#", ";")


def read(text: str, builder: Builder) -> Value | None:
    root = Table({})
    section: Table | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(_COMMENTS) or raw[:1].isspace():
            continue
        if not builder.spend():
            root.complete = False
            break
        if line.startswith("[") and line.endswith("]"):
            section = Table({})
            root.parts[line[1:-1].strip()] = builder.value(section, number)
        elif section is None:
            return None
        else:
            key, value = _setting(line)
            section.parts[key] = builder.value(value, number)
    return builder.value(root, 1) if root.parts else None


def _setting(line: str) -> tuple[str, str | None]:
    """`configparser` lowers the names of settings."""
    places = [place for place in (line.find("="), line.find(":")) if place >= 0]
    if not places:
        return line.lower(), None
    return line[: min(places)].strip().lower(), line[min(places) + 1 :].strip()
