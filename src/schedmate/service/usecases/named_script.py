"""The file that a person names as a job: what it is, and whether sbatch would take it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from schedmate.advisor.launch.command_words import SHELLS
from schedmate.advisor.launch.launchers import LAUNCHERS, PYTHON
from schedmate.model import BadInput
from schedmate.model.batch_script import (
    LARGEST,
    check_batch_script,
    check_python_file,
    is_program,
)

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["batch script", "python file", "interpreter"]


def kind_of(path: Path, name: str) -> Kind:
    """Of a file that is there; BadInput in words about `name` where it is nothing to run."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadInput(f"{name} cannot be read: {why}") from error
    if is_program(data) and _is_interpreter(path.name):
        return "interpreter"
    if path.suffix == ".py" and not data.startswith(b"#!"):
        check_python_file(name, data)
        return "python file"
    check_batch_script(name, data)
    return "batch script"


def _is_interpreter(name: str) -> bool:
    return bool(PYTHON.fullmatch(name)) or name in SHELLS or name in LAUNCHERS
