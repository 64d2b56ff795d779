"""detectron2's own helpers of a training script, where it is installed and not checked out."""

from __future__ import annotations

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, Dotted, Sequence, Table, Value
from schedmate.advisor.options.argparse_parser import Declared, Parser, holder
from schedmate.advisor.options.given import given_list
from schedmate.advisor.options.omegaconf_models import from_words
from schedmate.advisor.options.tables import copied, merge, state_all, table_of

_NODE = "detectron2.config.CfgNode"
_INT = Value(Dotted("int"))


def library_defaults(call: Call, _: Context) -> Value:
    """`get_cfg()`: the library's own defaults are not the job's to state."""
    return Value(Table(kind=_NODE, complete=False), (call.line,))


def argument_parser(call: Call, _: Context) -> Value:
    """`default_argument_parser()`."""
    lines = (call.line,)
    parser = Parser()
    parser.add(Declared(dest="config_file", flags=("--config-file",), lines=lines))
    for name in ("resume", "eval-only"):
        dest = name.replace("-", "_")
        parser.add(Declared(dest=dest, flags=(f"--{name}",), action="store_true", lines=lines))
    for name in ("num-gpus", "num-machines", "machine-rank"):
        dest = name.replace("-", "_")
        parser.add(Declared(dest=dest, flags=(f"--{name}",), type=_INT, lines=lines))
    parser.add(Declared(dest="dist_url", flags=("--dist-url",), lines=lines))
    parser.add(Declared(dest="opts", nargs="...", lines=lines))
    return holder(parser, call)


def launch(call: Call, context: Context) -> Value | None:
    """`launch(main, n, args=(args,))` calls `main(args)` in every process."""
    function, listed = call.argument("main_func", 0), call.argument("args", 5)
    items = listed.data.items if listed is not None and isinstance(listed.data, Sequence) else []
    return None if function is None else context.invoke(function, items)


def load_lazy(call: Call, context: Context) -> Value | None:
    """`LazyConfig.load("config.py")`."""
    path = call.argument("filename", 0)
    if path is None or not isinstance(path.data, str):
        return None
    read = context.read_python_config if path.data.endswith(".py") else context.read_config
    table = table_of(read(path.data))
    if table is None:
        return None
    made = copied(table, "omegaconf.DictConfig")
    state_all(context, made)
    return Value(made, path.lines, path.source)


def apply_overrides(call: Call, context: Context) -> Value | None:
    config, listed = call.argument("cfg", 0), call.argument("overrides", 1)
    table, words = table_of(config), given_list(listed) if listed is not None else None
    if table is not None and words is not None:
        merge(table, copied(from_words(words), table.kind))
        state_all(context, table)
    return config


DETECTRON2: dict[str, CallModel] = {
    "detectron2.config.get_cfg": library_defaults,
    "detectron2.engine.default_argument_parser": argument_parser,
    "detectron2.engine.defaults.default_argument_parser": argument_parser,
    "detectron2.engine.launch": launch,
    "detectron2.engine.launch.launch": launch,
    "detectron2.config.LazyConfig.load": load_lazy,
    "detectron2.config.LazyConfig.apply_overrides": apply_overrides,
}
