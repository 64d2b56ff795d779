"""LightningCLI and jsonargparse's `CLI`: config files and dotted options for classes."""

from __future__ import annotations

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.options.functions import call_with
from schedmate.advisor.options.given import given
from schedmate.advisor.options.tables import merge, put, state_all, table_of
from schedmate.advisor.options.undeclared import pairs

_CLIS = (
    "lightning.pytorch.cli.LightningCLI",
    "lightning.pytorch.LightningCLI",
    "pytorch_lightning.cli.LightningCLI",
    "pytorch_lightning.utilities.cli.LightningCLI",
)
_CONFIGS = ("config", "c")
_MAX_CALLBACKS = 50


def lightning_cli(call: Call, context: Context) -> Value:
    """`fit --config c.yaml --trainer.max_epochs 5`: options of the trainer, model and data."""
    settings = Table(complete=False)
    _take(settings, "trainer", call.argument("trainer_defaults", 4))
    for pair in pairs(given(context.arguments)):
        if pair.name in _CONFIGS and pair.values:
            read = table_of(context.read_config(pair.values[0].text))
            merge(settings, _of_command(read, context) if read is not None else Table())
        elif pair.dashed and pair.name not in _CONFIGS:
            put(settings, pair.name, pair.value())
    state_all(context, settings)
    _make_callbacks(table_of(settings.parts.get("trainer")), context)
    for name, position in (("model", 0), ("data", 1)):
        _interpret(call.argument(f"{name}_class", position), settings.parts.get(name), context)
    return Value(Table({"config": Value(settings)}, call.callee, complete=False), (call.line,))


def _make_callbacks(trainer: Table | None, context: Context) -> None:
    """They are made as the config says, so what they are told is seen."""
    callbacks = trainer.parts.get("callbacks") if trainer is not None else None
    data = None if callbacks is None else callbacks.data
    for item in (data.items if isinstance(data, Sequence) else [])[:_MAX_CALLBACKS]:
        _interpret(None, item, context)


def _of_command(config: Table, context: Context) -> Table:
    """A config may hold the settings of each sub-command below its name."""
    words = given(context.arguments)
    command = words[0].text if words else ""
    below = table_of(config.parts.get(command))
    return config if below is None else below


def _take(settings: Table, name: str, value: Value | None) -> None:
    table = table_of(value)
    if table is not None:
        merge(settings, Table({name: Value(table)}))


def _interpret(cls: Value | None, given_parts: Value | None, context: Context) -> None:
    """The class is made with what its part of the config says, and that may say which it is."""
    table = table_of(given_parts)
    path = table.parts.get("class_path") if table is not None else None
    if path is not None and isinstance(path.data, str) and "." in path.data:
        cls = Value(Dotted(path.data), path.lines, path.source)
    if cls is None or not isinstance(cls.data, (LocalClass, Dotted)):
        return
    inner = table_of(table.parts.get("init_args")) if table is not None else None
    parts = inner if inner is not None else table
    context.invoke(cls, (), dict(parts.parts) if parts is not None else {})


def auto_cli(call: Call, context: Context) -> Value | None:
    """jsonargparse's `CLI(main)`."""
    component = call.argument("components", 0)
    if component is None or not isinstance(component.data, LocalFunction):
        return None
    return call_with(component, given(context.arguments), context)


LIGHTNING_CLI: dict[str, CallModel] = {
    **dict.fromkeys(_CLIS, lightning_cli),
    "jsonargparse.CLI": auto_cli,
    "jsonargparse.auto_cli": auto_cli,
    "defopt.run": auto_cli,
}
