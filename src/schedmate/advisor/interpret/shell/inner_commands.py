"""Commands that change the shell itself."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from schedmate.advisor.interpret.shell.code_text import as_code, doubts
from schedmate.advisor.interpret.shell.conditions import decide
from schedmate.advisor.interpret.shell.machine import Machine
from schedmate.advisor.interpret.shell.scope import Flow
from schedmate.advisor.interpret.shell.spans import (
    Array,
    joined,
    known,
    plain,
    text_of,
    unknown,
)
from schedmate.advisor.interpret.shell.syntax import Simple
from schedmate.advisor.interpret.shell.words import Place, SourceMap, Span, Spans

Fields = list[list[Span]]
Builtin = Callable[[Machine, Fields, Simple], Flow]
_ENVIRONMENTS = re.compile(r"(?:^|/)(?:activate|conda\.sh|\.?bashrc|\.?profile|\.bash_profile)$")
_MAX_SOURCED = 8
_MAX_SHIFT = 10_000


def _place(machine: Machine, node: Simple) -> Place:
    return machine.place(node.words[0])


def _change_directory(machine: Machine, fields: Fields, _node: Simple) -> Flow:
    words = [field for field in fields if not re.fullmatch(r"-[LPe@]|--", text_of(field))]
    state = machine.state
    before = state.cwd
    meant = machine.surroundings.directory(text_of(words[0]), before) if words else None
    if meant is not None:
        state.cwd = meant
    elif not words or not known(words[0]) or text_of(words[0]).startswith("~"):
        state.cwd = None
    elif text_of(words[0]) == "-":
        state.cwd = state.directories[-1] if state.directories else None
    else:
        state.cwd = _joined(state.cwd, text_of(words[0]))
    state.directories = (*state.directories[-20:], before)
    return "next"


def _joined(cwd: str | None, where: str) -> str | None:
    if where.startswith("/"):
        return where
    return None if cwd is None else posixpath.normpath(posixpath.join(cwd, where))


def _pop_directory(machine: Machine, _fields: Fields, _node: Simple) -> Flow:
    state = machine.state
    if state.directories:
        state.cwd, state.directories = state.directories[-1], state.directories[:-1]
    return "next"


def _print_directory(machine: Machine, _fields: Fields, node: Simple) -> Flow:
    if machine.printing is not None:
        cwd, at = machine.state.cwd, _place(machine, node)
        machine.printing.append(unknown("$(pwd)", at) if cwd is None else plain(cwd, at))
    return "next"


def _unset(machine: Machine, fields: Fields, node: Simple) -> Flow:
    for field in fields:
        machine.state.values[text_of(field)] = plain("", _place(machine, node))
    return "next"


def _set(machine: Machine, fields: Fields, _node: Simple) -> Flow:
    texts = [text_of(field) for field in fields]
    index = 0
    while index < len(texts):
        text = texts[index]
        if text == "--" or not text.startswith(("-", "+")):
            _set_arguments(machine, fields[index + (text == "--") :])
            break
        index += 1
        named = texts[index : index + text.count("o")]
        if "a" in text[1:] or "allexport" in named:
            machine.state.exports_all = text.startswith("-")
        index += len(named)
    return "next"


def _set_arguments(machine: Machine, fields: Fields) -> None:
    clear = all(known(field) for field in fields)
    machine.state.arguments = tuple(tuple(field) for field in fields) if clear else None


def _shift(machine: Machine, fields: Fields, _node: Simple) -> Flow:
    text = text_of(fields[0]) if fields else "1"
    arguments = machine.state.arguments
    if arguments is None or not text.isdigit() or len(text) > len(str(_MAX_SHIFT)):
        machine.state.arguments = None
    else:
        machine.state.arguments = arguments[int(text) :]
        machine.status = bool(arguments)
    return "next"


def _read(machine: Machine, fields: Fields, node: Simple) -> Flow:
    """From a here-string, or unknown."""
    at, texts = _place(machine, node), [text_of(field) for field in fields]
    array = next((index for index, text in enumerate(texts) if re.fullmatch(r"-\w*a", text)), None)
    names = [text for text in texts if text.isidentifier()]
    stdin = machine.stdin
    if stdin is None or not known(stdin) or machine.piped:
        for name in names:
            machine.assign(name, unknown(f"${name}", at))
        machine.status = None
        return "next"
    parts = _separated(machine, text_of(stdin), node)
    if array is not None and names:
        items = {str(index): plain(part, stdin[0].at) for index, part in enumerate(parts)}
        machine.assign(names[0], Array(items))
        return "next"
    for index, name in enumerate(names):
        last = index == len(names) - 1
        text = " ".join(parts[index:]) if last else "".join(parts[index : index + 1])
        machine.assign(name, plain(text, stdin[0].at))
    return "next"


def _separated(machine: Machine, text: str, node: Simple) -> list[str]:
    """At the separator that stands before `read`, as in `IFS=, read -ra A`."""
    for token in node.words:
        if token.text.startswith("IFS="):
            separators = text_of(machine.spans(token))[len("IFS=") :]
            if separators.strip():
                return re.split(f"[{re.escape(separators)}]", text.rstrip("\n"))
    return text.split()


def _read_lines(machine: Machine, fields: Fields, node: Simple) -> Flow:
    for name in [text_of(field) for field in fields if text_of(field).isidentifier()][-1:]:
        machine.assign(name, unknown(f"${name}", _place(machine, node)))
    return "next"


def _eval(machine: Machine, fields: Fields, node: Simple) -> Flow:
    at = _place(machine, node)
    spans = joined((tuple(field) for field in fields), at)
    if not spans or not spans[0].known:
        return "next"
    text, values = as_code(spans)
    machine.doubtful |= doubts(spans)
    machine.state.values |= values
    return machine.run_text(text, (SourceMap.quoting(at[0].evidence(at[1])), 1))


def _source(machine: Machine, fields: Fields, _node: Simple) -> Flow:
    if not fields or len(machine.sourcing) >= _MAX_SOURCED:
        return "next"
    path = text_of(fields[0])
    if posixpath.basename(path) == "parse_options.sh":
        _parse_options(machine)
        return "next"
    source = None if _ENVIRONMENTS.search(path) else machine.find(path)
    if source is None or source.name in machine.sourcing:
        return "next"
    machine.sourcing.append(source.name)
    machine.sourced.append(source)
    before = machine.state.arguments
    if len(fields) > 1:
        machine.state.arguments = tuple(tuple(field) for field in fields[1:])
    flow = machine.run_text(source.text, (SourceMap(source), 1))
    if len(fields) > 1:
        machine.state.arguments = before
    machine.sourcing.pop()
    return flow if flow == "exit" else "next"


def _parse_options(machine: Machine) -> None:
    """As the script of that name which recipes of Kaldi and ESPnet source: `--a-b c` sets `a_b`."""
    rest = list(machine.state.arguments or ())
    while len(rest) > 1 and re.fullmatch(r"--[A-Za-z][\w-]*", text_of(rest[0]), re.ASCII):
        machine.assign(text_of(rest[0])[2:].replace("-", "_"), rest[1])
        rest = rest[2:]
    if machine.state.arguments is not None:
        machine.state.arguments = tuple(rest)


def _exit(machine: Machine, fields: Fields, _node: Simple) -> Flow:
    """A script that stops with an error is not what the job is about; it is read on."""
    failed = bool(fields) and text_of(fields[0]) != "0"
    return "next" if failed and not machine.undecided else "exit"


def _return(_machine: Machine, _fields: Fields, _node: Simple) -> Flow:
    return "return"


def _break(_machine: Machine, _fields: Fields, _node: Simple) -> Flow:
    return "break"


def _continue(_machine: Machine, _fields: Fields, _node: Simple) -> Flow:
    return "continue"


def _nothing(_machine: Machine, _fields: Fields, _node: Simple) -> Flow:
    return "next"


def _false(machine: Machine, _fields: Fields, _node: Simple) -> Flow:
    machine.status = False
    return "next"


def _test(machine: Machine, fields: Fields, node: Simple) -> Flow:
    bracket = node.words and text_of(fields[-1]) == "]" if fields else False
    machine.status = decide(fields[:-1] if bracket else fields, machine)
    return "next"


def _let(machine: Machine, fields: Fields, node: Simple) -> Flow:
    for field in fields:
        result = machine.number(text_of(field), _place(machine, node))
        machine.status = None if result is None else text_of(result) != "0"
    return "next"


def _getopts(machine: Machine, fields: Fields, node: Simple) -> Flow:
    """One option a call; `OPTIND` counts arguments, so `-ab` in one word is not taken apart."""
    at, arguments = _place(machine, node), machine.state.arguments
    if len(fields) < 2 or arguments is None:  # noqa: PLR2004 - the options and the name
        machine.status = None
        return "next"
    letters, name = text_of(fields[0]), text_of(fields[1])
    position = machine.look_up("OPTIND", at)
    text = "1" if position is None or isinstance(position, Array) else text_of(position)
    index = int(text) - 1 if text.isdigit() and len(text) < len("10000") else len(arguments)
    if index >= len(arguments) or not re.match(r"-[^-]", text_of(arguments[index])):
        machine.status = False
        return "next"
    machine.assign("OPTIND", plain(str(index + _one_option(machine, index, letters, name) + 1), at))
    return "next"


def _one_option(machine: Machine, index: int, letters: str, name: str) -> int:
    """Set what `getopts` sets; how many words the option has."""
    arguments = machine.state.arguments or ()
    option, at = text_of(arguments[index]), arguments[index][0].at
    machine.assign(name, plain(option[1] if option[1] in letters else "?", at))
    if f"{option[1]}:" not in letters:
        return 1
    if len(option) > 2:  # noqa: PLR2004 - `-e10`
        machine.assign("OPTARG", plain(option[2:], at))
        return 1
    following: Sequence[Spans] = arguments[index + 1 : index + 2]
    machine.assign("OPTARG", following[0] if following else ())
    return 2


BUILTINS: dict[str, Builtin] = {
    "cd": _change_directory,
    "pushd": _change_directory,
    "popd": _pop_directory,
    "pwd": _print_directory,
    "unset": _unset,
    "set": _set,
    "shift": _shift,
    "read": _read,
    "mapfile": _read_lines,
    "readarray": _read_lines,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "exit": _exit,
    "return": _return,
    "break": _break,
    "continue": _continue,
    "true": _nothing,
    ":": _nothing,
    "trap": _nothing,
    "shopt": _nothing,
    "alias": _nothing,
    "false": _false,
    "test": _test,
    "[": _test,
    "let": _let,
    "getopts": _getopts,
}
