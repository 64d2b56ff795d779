"""Small questions about the words of a command, and text on a command line as a source."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.interpret.shell.code_text import as_code, beginning
from schedmate.advisor.interpret.shell.spans import text_of
from schedmate.advisor.interpret.shell.words import COMMAND_FILE
from schedmate.advisor.launch.launchers import LAUNCHERS, PYTHON, program
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.advisor.sources.words import words
from schedmate.model import Evidence

SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
_OPERATOR = re.compile(r"&&|\|\|?&?|;;?|&|[()]|\d?(?:>>?|<)(?:&\d?)?|&>>?|<<<|\d>&\d|\d?>/dev/null")
_ATTACHED = re.compile(r"(?P<before>\(*)(?P<word>[^\s;()]*)(?P<after>\)*;|\)+)")
"""`cd src; python …` and `(cd src && …)`, split at blanks."""
_SHELL_WORDS = words("source . eval export cd pushd set if for while until case { } ( (( [[ ]] !")
"""What only a shell starts with; a program of that name is another one or none."""
_STARTERS = frozenset(("torchrun", "accelerate", "deepspeed", "srun", "mpirun", "mpiexec"))
_COMMAND_LINE = re.compile(
    r"(?:^|[\s;&|/])(?:python[\d.]*|torchrun|accelerate launch|deepspeed)\s[^;&|]*(?:\.py\b|-m\s)"
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,80}=)(.*)", re.ASCII | re.DOTALL)
_VARIABLE = re.compile(
    r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*(?:(?::[-=?+]|[-#%/^,])[^}]*)?\}|[@*\d])", re.ASCII
)
_MAX_LINES = 20_000
_STARTS_COPIES = re.compile(
    r"(?:^|[/.])(?:multiproc|dist_?launch|launch(?:er)?|dist_?run)(?:\.py)?$"
)


def shell_line(words: Sequence[str]) -> str | None:
    """A command line that only a shell takes apart: `cd src && python train.py`, in one word or
    split at its blanks. None where it is one plain command."""
    if len(words) == 1:
        return words[0] if re.search(r"\s", words[0].strip()) else None
    if not words or not _for_a_shell(words):
        return None
    return " ".join(_as_shell_text(word) for word in words)


def _for_a_shell(words: Sequence[str]) -> bool:
    if words[0] in _SHELL_WORDS or words[0].startswith("("):
        return True
    if any(_OPERATOR.fullmatch(word) or _VARIABLE.search(word) for word in words):
        return not reads_own_variables(words)
    return any(word.endswith(";") and _ATTACHED.fullmatch(word) for word in words)


def reads_own_variables(words: Sequence[str]) -> bool:
    """`bash -c 'python $FILE'`: text for another shell, which keeps its variables."""
    return any("$" in word and re.search(r"\s", word) for word in words) and not any(
        _OPERATOR.fullmatch(word) for word in words
    )


def _as_shell_text(word: str) -> str:
    """Quoted as far as the shell would take the blanks in it for ends of words."""
    if _OPERATOR.fullmatch(word) or word in _SHELL_WORDS:
        return word
    attached = _ATTACHED.fullmatch(word)
    if attached is not None:
        inner = attached["word"]
        return f"{attached['before']}{_as_shell_text(inner) if inner else ''}{attached['after']}"
    if word.startswith("(") and not re.search(r"\s", word):
        return f"( {_as_shell_text(word[1:])}"
    assignment = _ASSIGNMENT.fullmatch(word)
    if assignment is not None:
        return assignment[1] + (_as_shell_text(assignment[2]) if assignment[2] else "")
    if _VARIABLE.search(word) and not re.search(r"\s", word):
        return '"' + re.sub(r'(["\\`])', r"\\\1", word) + '"'
    return shlex.quote(word)


def starts_copies(words: Sequence[Word]) -> bool:
    """A launcher of the job's own: `python multiproc.py train.py …`, `python -m multiproc …`."""
    return (
        len(words) > 1
        and _STARTS_COPIES.search(words[0].text) is not None
        and words[1].known
        and words[1].text.endswith(".py")
    )


def is_command(words: Sequence[Word]) -> bool:
    name = program(words[0]) if words and words[0].known else ""
    return bool(PYTHON.fullmatch(name)) or name in LAUNCHERS or name.endswith(".py")


def names_a_file(words: Sequence[Word]) -> bool:
    return any(word.text.endswith((".py", ".sh", ".ipynb")) for word in words[1:])


def from_first_option(words: Sequence[Word]) -> Sequence[Word]:
    starts = (at for at, word in enumerate(words) if word.text.startswith("-"))
    return words[next(starts, len(words)) :]


def reads_commands(name: str) -> bool:
    return name in LAUNCHERS and LAUNCHERS[name].reads_commands


def behind_dashes(words: Sequence[Word]) -> tuple[Word, ...]:
    """`tool run --its-own -- python train.py`: what clearly is a command behind the dashes."""
    texts = [word.text for word in words]
    if "--" not in texts:
        return ()
    rest = tuple(words[texts.index("--") + 1 :])
    name = program(rest[0]) if rest else ""
    starts = PYTHON.fullmatch(name) or name in LAUNCHERS or name in SHELLS
    return rest if starts or name.endswith((".py", ".sh")) else ()


def wrapped(words: Sequence[Word]) -> int | None:
    """Where an unknown program has a whole command behind it that plainly starts Python."""
    for index in range(1, len(words) - 1):
        name = program(words[index])
        if PYTHON.fullmatch(name) or name in _STARTERS:
            return index
    return None


def is_shell_text(word: Word) -> bool:
    """`oarsub "python train.py --lr 0.1"`: one word that is a whole command line."""
    return _COMMAND_LINE.search(word.text) is not None


def without_unset(words: Sequence[Word]) -> Sequence[Word]:
    """Behind variables that nothing sets and that may hold a launcher, or nothing."""
    while len(words) > 1 and not words[0].known and words[0].text.startswith("$"):
        if not words[0].text.strip("${}").isidentifier():
            break
        words = words[1:]
    return words


def first_line(source: SourceFile) -> tuple[Evidence, ...]:
    return (evidence(source.name, 1, source.lines()[0]),)


def inline(word: Word) -> SourceFile:
    """Text on a command line; its lines are those of the script where it stands."""
    first = beginning(word.spans)
    lines = word.evidence if first is None else first.at[0].evidence(first.at[1])
    line = lines[-1] if lines else None
    if line is None or line.file == COMMAND_FILE:
        return SourceFile(COMMAND_FILE, word.text)
    return SourceFile(line.file, "\n" * min(max(line.line - 1, 0), _MAX_LINES) + word.text)


def shell_code(word: Word) -> tuple[SourceFile, dict[str, Word]]:
    """The same as shell text, in which values from elsewhere are variables."""
    if text_of(word.spans) != word.text:
        return inline(word), {}
    text, values = as_code(word.spans)
    variables = {
        name: Word(text_of(spans), spans[0].at[0].evidence(spans[0].at[1]), spans=spans)
        for name, spans in values.items()
    }
    return inline(replace(word, text=text)), variables
