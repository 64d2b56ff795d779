"""From a matched command line to the namespace that the program gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Table, Value
from schedmate.advisor.interpret.python.values import Sequence as Items
from schedmate.advisor.options.argparse_matching import Match, match
from schedmate.advisor.options.argparse_parser import Declared, Parser
from schedmate.advisor.options.conversion import convert, name_of
from schedmate.advisor.options.given import Given, given_list, several
from schedmate.advisor.options.tables import HIDDEN, leaves, put, state, table_of
from schedmate.advisor.options.text import typed
from schedmate.advisor.options.undeclared import pairs, plain, underscored

_IMPLIED = {"store_true": False, "store_false": True}
_MAX_FILE_WORDS = 2000


@dataclass(slots=True)
class Parsing:
    """One `parse_args`: `table` is filled, `extras` are the words that fit nothing."""

    context: Context
    table: Table
    extras: list[Given] = field(default_factory=list)
    depths: dict[str, int] = field(default_factory=dict)

    def run(self, parser: Parser, words: Sequence[Given]) -> None:
        words = _with_files(parser, words, self.context)
        found = match(parser, words)
        self._defaults(parser, kept=set(self.table.parts))
        self._configs(parser, found.matches)
        for each in found.matches:
            if each.declared.action != "config":
                self._store(each)
        self.extras += found.extras
        if parser.command_dest is not None:
            command = None if found.command is None else found.command.value
            self.table.parts[parser.command_dest] = command or Value(None)
        if found.command is not None:
            chosen = parser.commands.get(found.command.text)
            if chosen is not None:
                self.run(chosen, found.rest)

    def take_undeclared(self) -> None:
        """The program would stop at undeclared words, so code out of sight declares them."""
        for pair in pairs(self.extras):
            name = underscored(pair.name)
            self.table.parts[name] = pair.value()
            self.depths[name] = 0
            self.table.complete = False

    def nest(self) -> None:
        """jsonargparse's `--optim.lr` is `args.optim.lr`."""
        for name, value in list(self.table.parts.items()):
            first = name.partition(".")[0]
            if "." in name and first and not name.startswith(HIDDEN):
                put(self.table, name, value)

    def state(self) -> None:
        for name, depth in self.depths.items():
            value = self.table.parts.get(name)
            below = table_of(value)
            if below is not None:
                for dotted, leaf in leaves(below, f"{name}."):
                    state(self.context, dotted, leaf, depth)
            elif value is not None:
                state(self.context, name, value, depth)

    def _defaults(self, parser: Parser, kept: set[str]) -> None:
        for dest, value in parser.defaults.items():
            if dest not in kept:
                self.table.parts[dest] = value
                self.depths[dest] = 0
        for declared in parser.declared:
            self.depths[declared.dest] = declared.depth
            initial = _default(declared, self.context)
            first = declared.dest not in self.table.parts or declared.default is not None
            if declared.dest not in kept and initial is not None and first:
                self.table.parts[declared.dest] = initial

    def _configs(self, parser: Parser, matches: Sequence[Match]) -> None:
        """Config files that the parser reads by itself: later ones beat earlier ones."""
        named = [
            value.value
            for each in matches
            if each.declared.action == "config"
            for value in each.values
        ]
        of_default = [
            each.default
            for each in parser.declared
            if each.action == "config" and each.default is not None
        ]
        for path in (*parser.config_files, *(named or of_default)):
            read = self.context.read_config(path.data) if isinstance(path.data, str) else None
            table = table_of(read)
            if table is not None:
                self._take_config(parser, table)

    def _take_config(self, parser: Parser, config: Table) -> None:
        names = {
            plain(name.lstrip("-")): each.dest
            for each in parser.declared
            for name in (each.dest, *each.flags)
        }
        for name, value in leaves(config):
            dest = names.get(plain(name), underscored(name))
            self.table.parts[dest] = value
            self.depths.setdefault(dest, 0)

    def _store(self, each: Match) -> None:
        declared = each.declared
        if declared.action in ("help", "version"):
            return
        before = self.table.parts.get(declared.dest)
        value = _value(each, before, self.context)
        if value is not None:
            self.table.parts[declared.dest] = value
            self._store_as_written(each, value)

    def _store_as_written(self, each: Match, value: Value) -> None:
        """What looks like an abbreviation may be an option whose declaration was not seen."""
        written = each.flag.text.partition("=")[0] if each.flag is not None else ""
        name = underscored(written.lstrip("-"))
        if written.startswith("--") and written not in each.declared.flags:
            self.table.parts.setdefault(name, value)
            self.depths.setdefault(name, 0)


def _default(declared: Declared, context: Context) -> Value | None:
    """None where the namespace has no such part unless it is given."""
    default = declared.default
    if declared.action in ("help", "version"):
        return None
    if default is None:
        return Value(_IMPLIED.get(declared.action), declared.lines)
    if name_of(default).endswith("SUPPRESS") or default.data == "==SUPPRESS==":
        return None
    stated = default if default.lines else replace(default, lines=declared.lines)
    if isinstance(stated.data, str) and declared.type is not None:
        return convert(declared.type, Given(stated.data, stated.lines, stated.source), context)
    return stated


def _value(each: Match, before: Value | None, context: Context) -> Value | None:
    declared, flag = each.declared, each.flag
    if flag is not None and not declared.takes_values:
        return _of_flag(each, flag, before)
    values = [convert(declared.type, word, context) for word in each.values]
    if declared.action == "custom":
        return _of_custom(each, values)
    if not values:
        return _without_values(each)
    single = declared.nargs in (None, "?")
    value = values[0] if single else several(values)
    if declared.action in ("append", "extend"):
        added = values if declared.action == "extend" else [value]
        return several([*_items(before), *added])
    return value


def _without_values(each: Match) -> Value | None:
    declared, flag = each.declared, each.flag
    if flag is None:
        return Value(UNKNOWN_DATA, declared.lines)
    if declared.nargs == "?":
        constant = declared.const or Value(None)
        return Value(constant.data, (*flag.lines, *constant.lines), flag.source)
    if declared.nargs == "*":
        return flag.holding(Items([]))
    return Value(UNKNOWN_DATA, flag.lines, flag.source)


def _of_flag(each: Match, flag: Given, before: Value | None) -> Value | None:
    action = each.declared.action
    constant = each.declared.const or Value(None)
    match action:
        case "boolean":
            data: object = not each.negated
        case "store_true" | "store_false":
            data = action == "store_true"
        case "count":
            count = before.data if before is not None and isinstance(before.data, int) else 0
            data = count + 1
        case "append_const":
            return several([*_items(before), replace(constant, source=flag.source)])
        case _:
            data = constant.data
    return Value(data, (*flag.lines, *constant.lines), flag.source)


def _of_custom(each: Match, values: list[Value]) -> Value | None:
    """An action of the job's own: `a=1 b=2` is taken for a dict, as such actions do."""
    words = each.values
    if not words:
        return each.flag.holding(True) if each.flag is not None else None
    if all("=" in word.text for word in words):
        split = [(word.text.partition("="), word) for word in words]
        parts = {
            name: typed(Given(text, word.lines, word.source, word.known))
            for (name, _, text), word in split
        }
        return Value(Table(parts), words[0].lines, words[0].source)
    single = each.declared.nargs in (None, "?") or len(values) == 1
    return values[0] if single else several(values)


def _items(before: Value | None) -> list[Value]:
    return list(before.data.items) if before is not None and isinstance(before.data, Items) else []


def _with_files(parser: Parser, words: Sequence[Given], context: Context) -> list[Given]:
    """`@options.txt` stands for the words in the file."""
    result: list[Given] = []
    for word in words:
        if not (parser.file_prefix and word.known and word.text[:1] in parser.file_prefix):
            result.append(word)
            continue
        read = context.read_config(word.text[1:])
        words_there = None if read is None else given_list(read)
        result += (words_there or ())[:_MAX_FILE_WORDS]
    return result
