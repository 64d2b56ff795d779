"""The config file that a tool's command line names."""

from __future__ import annotations

from collections.abc import Sequence as Several

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import inherit, merge, resolve, select
from schedmate.advisor.options.configs.inheritance import read_any

_ENDINGS = (".yaml", ".yml", ".json", ".toml")


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
