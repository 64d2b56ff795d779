"""What an argparse parser declares so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from schedmate.advisor.interpret.python.values import Call, Table, Value
from schedmate.advisor.options.tables import HIDDEN
from schedmate.model import Evidence

STATE = f"{HIDDEN}parser>"
KIND = "argparse.ArgumentParser"
_MAX_DECLARED = 3000


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One `add_argument`; `flags` is empty for a positional."""

    dest: str
    flags: tuple[str, ...] = ()
    action: str = "store"
    nargs: str | int | None = None
    type: Value | None = None
    default: Value | None = None
    const: Value | None = None
    negative: tuple[str, ...] = ()
    """Those of the flags that say no."""
    lines: tuple[Evidence, ...] = ()
    depth: int = 0

    @property
    def takes_values(self) -> bool:
        return self.action in ("store", "append", "extend", "custom", "config")


@dataclass(slots=True, eq=False)
class Parser:
    """`open` where a library adds options of its own that are not in sight."""

    declared: list[Declared] = field(default_factory=list)
    defaults: dict[str, Value] = field(default_factory=dict)
    commands: dict[str, Parser] = field(default_factory=dict)
    command_dest: str | None = None
    open: bool = False
    prefix: str = "-"
    file_prefix: str = ""
    config_files: tuple[Value, ...] = ()

    def add(self, declared: Declared) -> None:
        """A flag that is declared again is the newer one's."""
        if len(self.declared) >= _MAX_DECLARED:
            self.open = True
            return
        if declared.default is None and declared.dest in self.defaults:
            declared = replace(declared, default=self.defaults[declared.dest])
        taken = set(declared.flags)
        if taken:
            self.declared = [
                each for each in self.declared if not taken.issuperset(each.flags or "-")
            ]
        self.declared.append(declared)

    def set_default(self, dest: str, value: Value) -> None:
        self.defaults[dest] = value
        self.declared = [
            replace(each, default=value) if each.dest == dest else each for each in self.declared
        ]

    def inherit(self, parent: Parser) -> None:
        for declared in parent.declared:
            self.add(declared)
        self.defaults |= parent.defaults
        self.open = self.open or parent.open

    def default(self, dest: str) -> Value | None:
        declared = [each for each in self.declared if each.dest == dest]
        return declared[-1].default if declared else self.defaults.get(dest)


def parser_of(value: Value | None) -> Parser | None:
    """The parser behind a value, made on first use: instances of subclasses have none before."""
    if value is None or not isinstance(value.data, Table):
        return None
    kept = value.data.parts.get(STATE)
    if kept is None:
        kept = Value(Parser())
        value.data.parts[STATE] = kept
    return kept.data if isinstance(kept.data, Parser) else None


def holder(parser: Parser, call: Call, kind: str = KIND) -> Value:
    """A parser, or a group of one, as a value that the code can pass around."""
    return Value(Table({STATE: Value(parser)}, kind, complete=False), (call.line,))
