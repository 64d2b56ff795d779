"""The entries of a hydra defaults list, and where the configs that they name belong."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from schedmate.advisor.interpret.python.values import Sequence, Table, Value

_MAX_ENTRIES = 400
_DIRECTIVE = re.compile(r"[# ]*@package\s{1,20}([\w.]{1,200})")
_GLOBAL = "_global_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """`group/option` below the group of the config that lists it, or from the top where `absolute`.

    A `choice` can be overridden by others, a config that is named outright cannot.
    """

    group: str = ""
    options: tuple[Value, ...] = ()
    package: str | None = None
    absolute: bool = False
    choice: bool = False
    override: bool = False
    optional: bool = False
    is_self: bool = False
    external: bool = False
    """Appended on the command line."""

    def group_path(self, parent_group: str) -> str:
        """`../optim` is beside the group of the config that lists it, as older hydras had it."""
        path = self.group if self.absolute else joined(parent_group, self.group, "/")
        return posixpath.normpath(path) if ".." in path else path

    def package_path(self, parent_group: str, parent_package: str, header: str | None) -> str:
        """Where the config's content goes: by the list, else by its directive, else its group."""
        if self.package is None and header is not None:
            return header.replace("_group_", self.group_path(parent_group).replace("/", "."))
        package = self.group.replace("/", ".") if self.package is None else self.package
        if package == "_here_":
            package = ""
        elif package == "_group_":
            package = joined(_GLOBAL, self.group_path(parent_group).replace("/", "."), ".")
        return after_global(joined("" if self.external else parent_package, package, "."))

    def override_key(self, parent_group: str, parent_package: str) -> str:
        """What another entry has to say to change this choice: `db`, or `db@backup`."""
        group = self.group_path(parent_group)
        package = self.package_path(parent_group, parent_package, None)
        return group if package == group.replace("/", ".") else f"{group}@{package or _GLOBAL}"

    def choosing(self, options: tuple[Value, ...]) -> Default:
        return replace(self, options=options)


def joined(first: str, second: str, separator: str) -> str:
    return f"{first}{separator}{second}" if first and second else first or second


def after_global(package: str) -> str:
    """Whatever stands before `_global_` does not count."""
    place = package.rfind(_GLOBAL)
    return package if place < 0 else package[place + len(_GLOBAL) + 1 :]


def package_directive(config: Value) -> str | None:
    """`# @package x` at the top of a file; the value of a file is shown with that line."""
    match = _DIRECTIVE.match(config.lines[0].text) if config.lines else None
    return None if match is None else after_global(match[1])


def defaults_of(config: Value) -> list[Default]:
    """`_self_` comes last where the list does not place it: a config overrides its defaults."""
    listed = config.data.parts.get("defaults") if isinstance(config.data, Table) else None
    if listed is None or not isinstance(listed.data, Sequence):
        return [Default(is_self=True)]
    entries = [entry for item in listed.data.items[:_MAX_ENTRIES] for entry in _entries(item)]
    if not any(entry.is_self for entry in entries):
        entries.append(Default(is_self=True))
    return entries


def _entries(item: Value) -> Iterator[Default]:
    if item.data == "_self_":
        yield Default(is_self=True)
    elif isinstance(item.data, str):
        path, _, package = item.data.partition("@")
        path = path.removeprefix("optional ").strip()
        group, _, name = path.strip("/").rpartition("/")
        yield Default(
            group=group,
            options=(Value(name, item.lines, item.source),),
            package=package or None,
            absolute=path.startswith("/"),
            optional=item.data.startswith("optional "),
        )
    elif isinstance(item.data, Table):
        for key, option in item.data.parts.items():
            yield _choice(key, option)


def _choice(key: str, option: Value) -> Default:
    *flags, name = key.split() or [""]
    group, _, package = name.partition("@")
    return Default(
        group=group.strip("/"),
        options=options_of(option),
        package=package or None,
        absolute=group.startswith("/"),
        choice=True,
        override="override" in flags,
        optional="optional" in flags,
    )


def options_of(option: Value) -> tuple[Value, ...]:
    """The configs chosen: one, several, or none for null."""
    if isinstance(option.data, Sequence):
        return tuple(option.data.items)
    return () if option.data is None else (option,)
