"""The file that a person names as a job: what it is, and whether sbatch would take it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from schedmate.model.batch_script import (
    LARGEST,
    check_batch_script,
    check_python_file,
    is_program,
)
from schedmate.model.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["batch script", "python file", "interpreter"]


def kind_of(path: Path, name: str) -> Kind:
    """Of a file that is there; BadInput in words about `name` where it is nothing to run."""
    return read_named(path, name)[0]


def read_named(path: Path, name: str) -> tuple[Kind, bytes]:
    """The same with its content."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadInput(f"{name} cannot be read: {why}") from error
    if is_program(data) and _is_interpreter(path.name):
        return "interpreter", data
    if path.suffix == ".py" and not data.startswith(b"#!"):
        check_python_file(name, data)
        return "python file", data
    check_batch_script(name, data)
    return "batch script", data


def _is_interpreter(name: str) -> bool:
    from schedmate.advisor.launch.command_words import SHELLS
    from schedmate.advisor.launch.launchers import LAUNCHERS, PYTHON

    return bool(PYTHON.fullmatch(name)) or name in SHELLS or name in LAUNCHERS
