"""What small commands print, from their arguments and their input alone."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Sequence

_SED_LINE = re.compile(r"(\d{1,6})p|(\d{1,6})!d|(\d{1,6})q;\s?d|(\d{1,6})\{p;q;?\}")
_AWK = re.compile(
    r"\s*(?:(NR|\$\d{1,2})\s*==\s*\"?([\w.+-]{1,100})\"?)?\s*"
    r"(?:\{\s*print\s*(\$\d{1,2}(?:\s*(?:,|\" \")\s*\$\d{1,2}){0,9})?\s*(?:;\s*exit)?;?\s*\})?\s*"
)
_TAIL = re.compile(r"-n ?(\+?)(\d{1,6})|-(\d{1,6})")
READS_FILES = frozenset(("sed", "awk", "gawk", "head", "tail", "cut", "wc", "tr"))
"""Those whose last argument may be the file that they read."""
_MAX_TEXT = 100_000
_SED = re.compile(r"s([/|,#:])([^/|,#:]{0,200})\1([^/|,#:]{0,200})\1(g?)")
_SPECIAL = frozenset(".*[]^$\\+?(){}|&")

Printer = Callable[[Sequence[str], str | None], str | None]
"""Arguments and standard input to the text; None where unknown."""


def printed(name: str, arguments: Sequence[str], stdin: str | None) -> str | None:
    printer = _PRINTERS.get(name)
    text = None if printer is None else printer(arguments, stdin)
    return None if text is None or len(text) > _MAX_TEXT else text


def prints(name: str) -> bool:
    return name in _PRINTERS


def _echo(arguments: Sequence[str], _stdin: str | None) -> str:
    words, ending, escapes = list(arguments), "\n", False
    while words and words[0] in ("-n", "-e", "-E", "-ne", "-en"):
        option = words.pop(0)
        ending = "" if "n" in option else ending
        escapes = escapes or "e" in option
    text = " ".join(words)
    return (_unescaped(text) if escapes else text) + ending


def _printf(arguments: Sequence[str], _stdin: str | None) -> str | None:
    """Formats of `%s` and `%d` only."""
    words = [word for word in arguments if word != "--"]
    if not words or words[0].startswith("-v"):
        return None
    parts = re.split(r"%[sdi]", _unescaped(words[0]).replace("%%", "\0"))
    values = iter(words[1:])
    text = parts[0] + "".join(next(values, "") + part for part in parts[1:])
    return None if "%" in text else text.replace("\0", "%")


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")


def _basename(arguments: Sequence[str], _stdin: str | None) -> str | None:
    words = [word for word in arguments if not word.startswith("-")]
    if "-s" in arguments:
        suffix, words = "".join(words[:1]), words[1:]
    else:
        suffix = words[1] if len(words) > 1 else ""
    if not 1 <= len(words) <= 2:  # noqa: PLR2004 - a path and perhaps an ending
        return None
    name = posixpath.basename(words[0].rstrip("/"))
    return (name.removesuffix(suffix) if name != suffix else name) + "\n"


def _dirname(arguments: Sequence[str], _stdin: str | None) -> str | None:
    words = [word for word in arguments if not word.startswith("-")]
    return (posixpath.dirname(words[0].rstrip("/")) or ".") + "\n" if words else None


def _realpath(arguments: Sequence[str], _stdin: str | None) -> str | None:
    words = [word for word in arguments if not word.startswith("-")]
    return posixpath.normpath(words[-1]) + "\n" if words else None


def _wc(arguments: Sequence[str], stdin: str | None) -> str | None:
    if stdin is None or not arguments:
        return None
    counts = {"-w": len(stdin.split()), "-l": stdin.count("\n"), "-c": len(stdin.encode())}
    count = counts.get(arguments[0])
    return None if count is None or len(arguments) > 1 else f"{count}\n"


def _tr(arguments: Sequence[str], stdin: str | None) -> str | None:
    if stdin is None or not arguments:
        return None
    sets = [_tr_set(word) for word in arguments if not word.startswith("-") or word == "-"]
    if arguments[0] == "-d" and len(sets) == 1:
        return "".join(char for char in stdin if char not in sets[0])
    if len(sets) != 2 or not sets[1] or arguments[0].startswith("-"):  # noqa: PLR2004 - from, to
        return None
    new = sets[1] + sets[1][-1] * (len(sets[0]) - len(sets[1]))
    return stdin.translate(str.maketrans(sets[0], new[: len(sets[0])]))


def _tr_set(text: str) -> str:
    text = text.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z").replace("[:space:]", " \n")
    text = text.replace("\\n", "\n").replace("\\t", "\t")
    for span in ("A-Z", "a-z", "0-9"):
        text = text.replace(span, "".join(map(chr, range(ord(span[0]), ord(span[2]) + 1))))
    return text


def _cut(arguments: Sequence[str], stdin: str | None) -> str | None:
    """`-d, -f2`: one field of each line."""
    options = " ".join(arguments)
    found = re.fullmatch(r"-d ?(.) ?-f ?(\d{1,3})|-f ?(\d{1,3}) ?-d ?(.)", options)
    if stdin is None or found is None:
        return None
    delimiter, number = (found[1] or found[4]), int(found[2] or found[3])
    lines = [line.split(delimiter) for line in stdin.splitlines()]
    chosen = [
        parts[number - 1] if len(parts) >= number > 0 else (parts[0] if len(parts) == 1 else "")
        for parts in lines
    ]
    return "".join(f"{part}\n" for part in chosen)


def _sed(arguments: Sequence[str], stdin: str | None) -> str | None:
    """One plain `s/a/b/`, or one line by its number."""
    picked = None if stdin is None else _sed_line(arguments, stdin)
    if picked is not None:
        return picked
    words = [word for word in arguments if word not in ("-e", "-E", "-r")]
    found = _SED.fullmatch(words[0]) if len(words) == 1 else None
    if stdin is None or found is None or set(found[2]) & _SPECIAL or set(found[3]) & set("\\&"):
        return None
    count = -1 if found[4] else 1
    return "".join(
        line.replace(found[2], found[3], count) if found[2] else line
        for line in stdin.splitlines(keepends=True)
    )


def _head(arguments: Sequence[str], stdin: str | None) -> str | None:
    found = re.fullmatch(r"(?:-n ?)?-?(\d{1,6})", " ".join(arguments))
    if stdin is None or found is None:
        return None
    return "".join(stdin.splitlines(keepends=True)[: int(found[1])])


def _cat(arguments: Sequence[str], stdin: str | None) -> str | None:
    return stdin if not arguments or list(arguments) == ["-"] else None


def _xargs(arguments: Sequence[str], stdin: str | None) -> str | None:
    return None if stdin is None or arguments else " ".join(stdin.split()) + "\n"


def _seq(arguments: Sequence[str], _stdin: str | None) -> str | None:
    if not 1 <= len(arguments) <= 3 or not all(  # noqa: PLR2004 - first, step, last
        re.fullmatch(r"-?\d{1,6}", word) for word in arguments
    ):
        return None
    numbers = [int(word) for word in arguments]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) > 2 else 1  # noqa: PLR2004 - same
    if step == 0:
        return None
    last = numbers[-1] + (1 if step > 0 else -1)
    return "".join(f"{number}\n" for number in range(first, last, step)[:10_000])


def _expr(arguments: Sequence[str], _stdin: str | None) -> str | None:
    text = " ".join(arguments)
    found = re.fullmatch(r"(-?\d{1,9}) ([-+*/%]) (-?\d{1,9})", text)
    if found is None or (found[2] in "/%" and int(found[3]) == 0):
        return None
    left, right = int(found[1]), int(found[3])
    results = {"+": left + right, "-": left - right, "*": left * right}
    if found[2] in "/%":
        results |= {"/": int(left / right), "%": left - right * int(left / right)}
    return f"{results[found[2]]}\n"


def _bc(_arguments: Sequence[str], stdin: str | None) -> str | None:
    return None if stdin is None else _expr(re.findall(r"\d+|[-+*/%]", stdin.strip()), None)


def _getopt(arguments: Sequence[str], _stdin: str | None) -> str | None:
    """The arguments again, quoted; they are taken to be in order already."""
    words = list(arguments)
    if "--" not in words:
        return None
    return " ".join(shlex.quote(word) for word in words[words.index("--") + 1 :]) + " --\n"


def _which(arguments: Sequence[str], _stdin: str | None) -> str | None:
    """Of a Python the way to it, which is as good as its name; others may not be there."""
    words = [word for word in arguments if not word.startswith("-")]
    return f"{words[0]}\n" if len(words) == 1 and "python" in words[0] else None


def _command(arguments: Sequence[str], stdin: str | None) -> str | None:
    """`command -v python`."""
    return _which(arguments[1:], stdin) if arguments[:1] == ["-v"] else None


def _sed_line(arguments: Sequence[str], stdin: str) -> str | None:
    """One line by its number; None where it is another script."""
    words = [word for word in arguments if word not in ("-n", "-e", "--quiet", "--silent")]
    found = _SED_LINE.fullmatch(words[0].strip()) if len(words) == 1 else None
    if found is None:
        return None
    number = int(next(group for group in found.groups() if group))
    return "".join(stdin.splitlines(keepends=True)[number - 1 : number]) if number else ""


def _awk(arguments: Sequence[str], stdin: str | None) -> str | None:
    """A line by its number or by what stands in a column of it, or columns of all lines."""
    words, separator, text = list(arguments), None, None
    values: dict[str, str] = {}
    while words:
        word = words.pop(0)
        if word == "-v" and words:
            name, _, value = words.pop(0).partition("=")
            values[name] = value
        elif word == "-F" and words:
            separator = words.pop(0)
        elif word.startswith("-F"):
            separator = word[2:]
        elif text is None:
            text = word
        else:
            return None
    for name, value in values.items():
        plain = value.replace("\\", "")
        text = re.sub(rf"(?<!\$)\b{re.escape(name)}\b", plain, text or "")
    found = _AWK.fullmatch(text or "")
    if stdin is None or found is None or not (found[1] or found[3]):
        return None
    return _picked(stdin, separator, found)


def _picked(stdin: str, separator: str | None, found: re.Match[str]) -> str:
    lines: list[str] = []
    for number, line in enumerate(stdin.splitlines(), 1):
        columns = [line, *line.split(separator)]
        if found[1]:
            value = str(number) if found[1] == "NR" else _column(columns, found[1])
            if value != found[2]:
                continue
        chosen = re.findall(r"\$\d{1,2}", found[3] or "$0")
        lines.append(" ".join(_column(columns, name) for name in chosen))
    return "".join(f"{line}\n" for line in lines)


def _column(columns: Sequence[str], name: str) -> str:
    number = int(name[1:])
    return columns[number] if number < len(columns) else ""


def _tail(arguments: Sequence[str], stdin: str | None) -> str | None:
    found = _TAIL.fullmatch(" ".join(arguments))
    if stdin is None or found is None:
        return None
    lines, count = stdin.splitlines(keepends=True), int(found[2] or found[3])
    if found[1]:
        return "".join(lines[max(count - 1, 0) :])
    return "".join(lines[-count:]) if count else ""


_PRINTERS: dict[str, Printer] = {
    "echo": _echo,
    "printf": _printf,
    "basename": _basename,
    "dirname": _dirname,
    "realpath": _realpath,
    "readlink": _realpath,
    "wc": _wc,
    "tr": _tr,
    "cut": _cut,
    "sed": _sed,
    "head": _head,
    "tail": _tail,
    "awk": _awk,
    "gawk": _awk,
    "cat": _cat,
    "xargs": _xargs,
    "seq": _seq,
    "expr": _expr,
    "bc": _bc,
    "getopt": _getopt,
    "which": _which,
    "command": _command,
}
