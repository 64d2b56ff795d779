"""LightningCLI and jsonargparse's `CLI`: config files and dotted options for classes."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LocalClass,
    LocalFunction,
    Partial,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.options.functions import call_with
from schedmate.advisor.options.given import given
from schedmate.advisor.options.tables import (
    HIDDEN,
    look_up,
    merge,
    nested,
    put,
    state_all,
    table_of,
)
from schedmate.advisor.options.undeclared import pairs

_CLIS = (
    "lightning.pytorch.cli.LightningCLI",
    "lightning.pytorch.LightningCLI",
    "pytorch_lightning.cli.LightningCLI",
    "pytorch_lightning.utilities.cli.LightningCLI",
)
_PARSER = "lightning.pytorch.cli.LightningArgumentParser"
_LINKS = f"{HIDDEN}links>"
_CONFIGS = ("config", "c")
_MAX_ITEMS = 50
_MAX_DEPTH = 8


def lightning_cli(call: Call, context: Context) -> Value:
    """`fit --config c.yaml --trainer.max_epochs 5`: options of the trainer, model and data."""
    classes = {
        "model": call.argument("model_class", 0),
        "data": call.argument("datamodule_class", 1),
    }
    settings = Table(complete=False)
    for name, cls in classes.items():
        settings.parts[name] = Value(_constructor_defaults(cls, context))
    parser = _own_arguments(call, context)
    merge(settings, Table(dict(_visible(parser))))
    _take(settings, "trainer", call.argument("trainer_defaults", 4))
    for table in _given(call, context):
        merge(settings, table)
    _link(settings, parser)
    settings.parts = {
        name: value
        for name, value in settings.parts.items()
        if table_of(value) is None or table_of(value).parts  # type: ignore[union-attr]
    }
    state_all(context, settings)
    trainer = table_of(settings.parts.get("trainer"))
    for name in ("callbacks", "logger") if trainer is not None else ():
        _built(trainer.parts.get(name), context)  # type: ignore[union-attr]
    made = {
        f"{name}{'module' if name == 'data' else ''}": _interpret(
            cls, settings.parts.get(name), context
        )
        for name, cls in classes.items()
    }
    parts = {"config": Value(settings), **{name: each for name, each in made.items() if each}}
    return Value(Table(parts, call.callee, complete=False), (call.line,))


def _constructor_defaults(cls: Value | None, context: Context) -> Table:
    """Parameters of a constructor are options, and so their defaults hold."""
    init = (
        context.members(cls.data).get("__init__")
        if cls is not None and isinstance(cls.data, LocalClass)
        else None
    )
    if init is None or not isinstance(init.data, LocalFunction):
        return Table()
    signature = context.signature(init.data)
    return Table({name: each for name, each, _ in signature if each is not None and each.plain})


def _own_arguments(call: Call, context: Context) -> Table:
    """What a class of the job that inherits from LightningCLI adds to the parser."""
    parser = Table({_LINKS: Value(Sequence([]))}, _PARSER, complete=False)
    own = table_of(call.receiver)
    cls = own.of if own is not None else None
    hook = context.members(cls).get("add_arguments_to_parser") if cls is not None else None
    if hook is not None and call.receiver is not None:
        context.invoke(hook, [call.receiver, Value(parser, (call.line,))])
    return parser


def _visible(table: Table) -> Iterator[tuple[str, Value]]:
    return (each for each in table.parts.items() if not each[0].startswith(HIDDEN))


def _given(call: Call, context: Context) -> Iterator[Table]:
    """Default config files, then the command line word by word."""
    kwargs = table_of(call.argument("parser_kwargs", 9))
    words = given(context.arguments)
    command = words[0].text if words else ""
    for place in (kwargs, table_of(kwargs.parts.get(command)) if kwargs is not None else None):
        listed = place.parts.get("default_config_files") if place is not None else None
        data = listed.data if listed is not None else None
        for item in data.items if isinstance(data, Sequence) else ():
            yield _of_command(_read(item.data, context), command)
    for pair in pairs(words):
        value = pair.values[0].text if pair.values else ""
        if pair.name in _CONFIGS and pair.values:
            yield _of_command(_read(value, context), command)
        elif pair.dashed and pair.name not in _CONFIGS:
            read = _read(value, context) if value.endswith((".yaml", ".yml")) else Table()
            yield nested({pair.name: Value(read) if read.parts else pair.value()})


def _read(path: object, context: Context) -> Table:
    return (table_of(context.read_config(path)) if isinstance(path, str) else None) or Table()


def _of_command(config: Table, command: str) -> Table:
    """A config may hold the settings of each sub-command below its name."""
    below = table_of(config.parts.get(command))
    return config if below is None else below


def _take(settings: Table, name: str, value: Value | None) -> None:
    table = table_of(value)
    if table is not None:
        merge(settings, Table({name: Value(table)}))


def _link(settings: Table, parser: Table) -> None:
    links = parser.parts[_LINKS].data
    for item in links.items if isinstance(links, Sequence) else ():
        source, target = (str(part.data) for part in item.data.items)
        value = look_up(settings, source) or look_up(
            settings, source.replace(".", ".init_args.", 1)
        )
        if value is not None:
            put(settings, target, value)


def _built(value: Value | None, context: Context, depth: int = 0) -> Value | None:
    """Settings with a `class_path` are made as they say, so what those get is seen."""
    if value is None or depth > _MAX_DEPTH:
        return value
    if isinstance(value.data, Sequence):
        items = [_built(item, context, depth + 1) or item for item in value.data.items[:_MAX_ITEMS]]
        return Value(Sequence(items, value.data.complete, value.data.kind), value.lines)
    table = table_of(value)
    path = table.parts.get("class_path") if table is not None else None
    if table is None or path is None or not isinstance(path.data, str) or "." not in path.data:
        return value
    called = Value(Dotted(path.data), path.lines, path.source)
    keywords = _keywords(table, context, depth)
    if ".optim." in path.data:
        return Value(Partial(called, (), keywords), path.lines, path.source)
    return context.invoke(called, (), keywords)


def _keywords(table: Table, context: Context, depth: int) -> dict[str, Value]:
    """`init_args`, with what the command line puts beside them."""
    inner = table_of(table.parts.get("init_args"))
    own = {name: each for name, each in table.parts.items() if name not in _OF_CLASSES}
    parts = own if inner is None else {**own, **inner.parts}
    return {name: _built(each, context, depth + 1) or each for name, each in parts.items()}


_OF_CLASSES = ("class_path", "init_args")


def _interpret(cls: Value | None, settings: Value | None, context: Context) -> Value | None:
    """The class is made with what its part of the config says, and that may say which it is."""
    table = table_of(settings)
    if table is not None and "class_path" in table.parts:
        return _built(settings, context)
    if cls is None or not isinstance(cls.data, (LocalClass, Dotted)):
        return None
    return context.invoke(cls, (), {} if table is None else _keywords(table, context, 0))


def link_arguments(call: Call, _: Context) -> Value:
    """Where one is computed from the other, it stays unknown."""
    table = table_of(call.receiver)
    ends = (call.argument("source", 0), call.argument("target", 1))
    known = all(end is not None and isinstance(end.data, str) for end in ends)
    if table is not None and known and call.argument("compute_fn", 2) is None:
        links = table.parts[_LINKS].data
        links.items.append(Value(Sequence([end for end in ends if end is not None])))
    return Value(None)


def set_defaults(call: Call, _: Context) -> Value:
    table, first = table_of(call.receiver), table_of(call.argument("", 0))
    given_parts = {**(first.parts if first is not None else {}), **call.keywords}
    for name, value in given_parts.items() if table is not None else ():
        put(table, name, value)  # type: ignore[arg-type]
    return Value(None)


def add_argument(call: Call, _: Context) -> Value:
    table, name = table_of(call.receiver), call.argument("", 0)
    default = call.keywords.get("default")
    if table is not None and name is not None and isinstance(name.data, str) and default:
        put(table, name.data.lstrip("-"), default)
    return Value(None)


def add_optimizer(call: Call, _: Context) -> Value:
    """`add_optimizer_args(torch.optim.Adam)`: the one that every run gets."""
    cls = call.argument("optimizer_class", 0)
    if cls is not None and isinstance(cls.data, Dotted):
        table = table_of(call.receiver)
        if table is not None:
            put(table, "optimizer.class_path", Value(cls.data.name, (call.line,)))
    return Value(None)


def auto_cli(call: Call, context: Context) -> Value | None:
    """jsonargparse's `CLI(main)`."""
    component = call.argument("components", 0)
    if component is None or not isinstance(component.data, LocalFunction):
        return None
    return call_with(component, given(context.arguments), context)


LIGHTNING_CLI: dict[str, CallModel] = {
    **dict.fromkeys(_CLIS, lightning_cli),
    f"{_PARSER}.link_arguments": link_arguments,
    f"{_PARSER}.set_defaults": set_defaults,
    f"{_PARSER}.add_argument": add_argument,
    f"{_PARSER}.add_optimizer_args": add_optimizer,
    "jsonargparse.CLI": auto_cli,
    "jsonargparse.auto_cli": auto_cli,
    "defopt.run": auto_cli,
}
