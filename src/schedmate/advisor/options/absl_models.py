"""absl flags (TensorFlow's and gflags' too): every flag is stated where it is defined."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Call,
    LocalFunction,
    Table,
    Value,
)
from schedmate.advisor.options.given import Given, given, given_list, several
from schedmate.advisor.options.tables import state
from schedmate.advisor.options.text import boolean, number, typed
from schedmate.advisor.options.undeclared import Pair, pairs

_MODULES = (
    "absl.flags",
    "tensorflow.app.flags",
    "tensorflow.flags",
    "tensorflow.compat.v1.flags",
    "tensorflow.compat.v1.app.flags",
    "tensorflow.python.platform.flags",
    "gflags",
)
_RUNNERS = (
    "absl.app.run",
    "tensorflow.app.run",
    "tensorflow.compat.v1.app.run",
    "tensorflow.compat.v1.app.run_main",
)
_MAX_FILE_WORDS = 2000


def command_line(context: Context) -> Iterator[Pair]:
    """The flags of the command line, those of a `--flagfile` in its place."""
    for pair in pairs(given(context.arguments)):
        if pair.name != "flagfile" or not pair.values:
            yield pair
            continue
        read = context.read_config(pair.values[0].text)
        words = None if read is None else given_list(read)
        yield from pairs(words[:_MAX_FILE_WORDS] if words is not None else ())


def define(call: Call, context: Context) -> Value | None:
    name, default = call.argument("name", 0), call.argument("default", 1)
    if name is None or not isinstance(name.data, str):
        return None
    kind = call.callee.rpartition("DEFINE_")[2]
    value = default if default is not None else Value(None, (call.line,))
    for pair in command_line(context):
        given = _given(pair, name.data, kind)
        value = value if given is None else given
    state(context, name.data, value, call.depth)
    return holder(name.data, value, call)


def holder(name: str, value: Value, call: Call) -> Value:
    """What `DEFINE_…` returns: the flag's value is its `value`."""
    parts = {"value": value, "name": Value(name, (call.line,))}
    return Value(Table(parts, "absl.flags.FlagHolder", complete=False), (call.line,))


def _given(pair: Pair, name: str, kind: str) -> Value | None:
    if pair.name == f"no{name}" and kind.startswith("bool") and not pair.values:
        return pair.flag.holding(False)
    if pair.name != name:
        return None
    if not pair.values:
        return pair.flag.holding(True)
    word = pair.values[0]
    if kind == "list" or kind.startswith("multi"):
        texts = word.text.split(",") if kind == "list" else [word.text]
        return several(typed(Given(text, word.lines, word.source, word.known)) for text in texts)
    return _converted(word, kind)


def _converted(word: Given, kind: str) -> Value:
    if kind.startswith("bool"):
        given = boolean(word.text)
        return word.holding(UNKNOWN_DATA if given is None else given)
    found = number(word.text) if kind in ("integer", "float") else word.text
    return word.holding(UNKNOWN_DATA if found is None else found)


def flag(call: Call, context: Context) -> Value:
    """`FLAGS.lr`: flags are options, stated where they are defined."""
    return context.option(call.callee.rpartition(".")[2])


def run(call: Call, context: Context) -> Value | None:
    """`app.run(main)` calls `main(argv)`, of which the flags are gone: the program's name."""
    main = call.argument("main", 0)
    if main is None or not isinstance(main.data, LocalFunction):
        return None
    takes_words = bool(context.signature(main.data))
    left_over = several([Value("main", (call.line,))])
    return context.invoke(main, [left_over] if takes_words else [])


_KINDS = [
    "string",
    "integer",
    "float",
    "bool",
    "boolean",
    "enum",
    "enum_class",
    "list",
    "multi_string",
    "multi_integer",
    "multi_float",
    "multi_enum",
    "spaceseplist",
]
ABSL: dict[str, CallModel] = {
    **{f"{module}.DEFINE_{kind}": define for module in _MODULES for kind in _KINDS},
    **{f"{module}.FLAGS.*": flag for module in _MODULES},
    **dict.fromkeys(_RUNNERS, run),
}
