"""transformers' `HfArgumentParser` and its kin: dataclasses whose fields are options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.references import Member
from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Call,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.options.argparse_models import METHODS, words_for
from schedmate.advisor.options.argparse_parser import Parser, holder, parser_of
from schedmate.advisor.options.given import Given, as_list
from schedmate.advisor.options.schema import instance, is_class, outline, settings_from
from schedmate.advisor.options.tables import HIDDEN, merge, nested, state_all, table_of
from schedmate.advisor.options.undeclared import Pair, underscored

_CLASSES = f"{HIDDEN}classes>"
_BOTH = "parse_yaml_and_args"
"""What the alignment handbook added to the parser, and many jobs with it: its code goes through
the fields of a library's class, which are not at hand."""
_PARSERS = (
    "transformers.HfArgumentParser",
    "transformers.hf_argparser.HfArgumentParser",
    "trl.TrlParser",
    "trl.scripts.TrlParser",
    "trl.scripts.utils.TrlParser",
    "trl.commands.cli_utils.TrlParser",
    "trl.commands.cli_utils.TRLParser",
    "trl.H4ArgumentParser",
    "alignment.H4ArgumentParser",
    "alignment.configs.H4ArgumentParser",
)


def make_parser(call: Call, _: Context) -> Value:
    """Also `super().__init__(…)` of a job's own parser class, which is the receiver then."""
    own = table_of(call.receiver)
    made = holder(Parser(), call, "transformers.HfArgumentParser")
    if own is not None and call.receiver is not None:
        parser_of(call.receiver)
        made = call.receiver
    _remember(made, call)
    return made


def _remember(parser: Value, call: Call) -> None:
    types = call.argument("dataclass_types", 0)
    table = table_of(parser)
    if types is not None and table is not None:
        table.parts[_CLASSES] = types
        if table.of is not None:
            bound = Member(Value(Table(table.parts, _PARSERS[0])), _BOTH)
            table.parts[_BOTH] = Value(bound)


def _classes(parser: Value | None) -> list[Value]:
    table = table_of(parser)
    types = None if table is None else table.parts.get(_CLASSES)
    if types is None:
        return []
    listed = types.data.items if isinstance(types.data, Sequence) else [types]
    return [each for each in listed if is_class(each)]


def parse_args(call: Call, context: Context) -> Value | None:
    """`parse_args_into_dataclasses`."""
    words = words_for(call.argument("args", 0), context)
    return _parsed(call, context, words, Table())


def parse_args_and_config(call: Call, context: Context) -> Value | None:
    """trl's: `--config file.yaml`, then the command line over it."""
    words = words_for(call.argument("args", 0), context)
    path = next((each for each in _named(words, "config") if each.known), None)
    read = context.read_config(path.text) if path is not None else None
    return _parsed(call, context, words, table_of(read) or Table())


def _named(words: Iterable[Given], name: str) -> Iterable[Given]:
    _, others = settings_from(tuple(words), Table())
    return (pair.values[0] for pair in others if pair.name == name and pair.values)


def _parsed(call: Call, context: Context, words: tuple[Given, ...], config: Table) -> Value | None:
    classes = _classes(call.receiver)
    if not classes:
        return None
    settings = Table()
    merge(settings, config)
    given, others = settings_from(words, _shape(classes, config, context))
    merge(settings, given)
    merge(settings, nested({underscored(pair.name): pair.value() for pair in others}))
    return _answer(call, context, classes, settings, _leftover(call, others))


def _shape(classes: list[Value], config: Table, context: Context) -> Table:
    shape = outline(classes, context)
    shape.parts |= {name: value for name, value in config.parts.items() if name not in shape.parts}
    return shape


def _leftover(call: Call, others: list[Pair]) -> list[Given] | None:
    wanted = call.keywords.get("return_remaining_strings")
    if wanted is None or wanted.data is not True:
        return None
    return [word for pair in others for word in (pair.flag, *pair.values)]


def _answer(
    call: Call,
    context: Context,
    classes: list[Value],
    settings: Table,
    leftover: list[Given] | None = None,
) -> Value:
    """One instance a class; a library's own class gets all that is no local one's."""
    made: list[Value] = []
    fields = [set(outline([cls], context).parts) for cls in classes]
    local = set().union(*fields)
    for cls, names in zip(classes, fields, strict=True):
        parts = settings.parts.items()
        own = {name: part for name, part in parts if name in names or name not in local}
        table = instance(cls, Table(own), context)
        made.append(Value(table, (call.line,)))
        state_all(context, table, depth=call.depth)
    extra = [] if leftover is None else [as_list(leftover)]
    return Value(Sequence([*made, *extra]), (call.line,))


def parse_file(call: Call, context: Context) -> Value | None:
    """`parse_json_file`, `parse_yaml_file`: a file instead of the command line."""
    path = call.argument("json_file", 0) or call.argument("yaml_file", 0)
    read = (
        context.read_config(path.data) if path is not None and isinstance(path.data, str) else None
    )
    return _from_table(call, context, table_of(read))


def parse_file_and_args(call: Call, context: Context) -> Value | None:
    """`parse_yaml_and_args(file, words)` of the alignment handbook, and its `parse()`, which
    takes both from the command line."""
    words = words_for(call.argument("other_args", 1), context)
    path = call.argument("yaml_arg", 0)
    place = path.data if path is not None else None
    if path is None and words and words[0].known and words[0].text.endswith((".yaml", ".yml")):
        place, words = words[0].text, words[1:]
    read = context.read_config(place) if isinstance(place, str) else None
    return _parsed(call, context, words, table_of(read) or Table())


def parse_dict(call: Call, context: Context) -> Value | None:
    return _from_table(call, context, table_of(call.argument("args", 0)))


def _from_table(call: Call, context: Context, settings: Table | None) -> Value | None:
    """Where the settings are not in sight, neither are the values."""
    classes = _classes(call.receiver)
    if not classes:
        return None
    if settings is not None:
        return _answer(call, context, classes, settings)
    unknown = Value(UNKNOWN_DATA, (call.line,))
    return Value(Sequence([replace(unknown) for _ in classes]), (call.line,))


_HF_METHODS: dict[str, CallModel] = {
    **METHODS,
    "parse_args_into_dataclasses": parse_args,
    "parse_args_and_config": parse_args_and_config,
    "parse_json_file": parse_file,
    "parse_yaml_file": parse_file,
    "parse_dict": parse_dict,
    _BOTH: parse_file_and_args,
    "parse": parse_file_and_args,
}

HF_PARSER: dict[str, CallModel] = {
    **dict.fromkeys(_PARSERS, make_parser),
    **{f"{kind}.{name}": model for kind in _PARSERS for name, model in _HF_METHODS.items()},
}
