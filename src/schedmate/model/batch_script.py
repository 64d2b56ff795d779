"""What sbatch takes as a batch script; the same holds for everything that is named as one."""

from __future__ import annotations

from typing import Final

from schedmate.model.errors import BadInput

LARGEST: Final = 4 * 1024 * 1024
"""As slurmctld has it by default."""
_ELF: Final = b"\x7fELF"


PATTERN: Final = r"^#!(?:[^\x00\r]|\r(?!\n))*$"
"""Of the text of one."""


def check_batch_script(name: str, data: bytes, *, otherwise: str = "") -> None:
    """BadInput where sbatch would refuse it; `otherwise` is what to do with a plain command."""
    if data.startswith(_ELF):
        raise BadInput(f"{name} is a program, not a batch script; as a command: -- {name} …")
    _check_text(name, data)
    if not data.startswith(b"#!"):
        raise BadInput(
            f"{name} is no batch script: its first line has to begin with #! and an interpreter, "
            f"such as #!/bin/bash; {otherwise or f'as a command: -- bash {name}'}"
        )
    if b"\r\n" in data:
        raise BadInput(
            f"{name} has DOS line endings, which sbatch refuses; sed -i 's/\\r$//' {name} mends it"
        )


def check_python_file(name: str, data: bytes) -> None:
    """BadInput where there is nothing to run."""
    _check_text(name, data)


def is_program(data: bytes) -> bool:
    """Whether a file that begins so is machine code."""
    return data.startswith(_ELF)


def _check_text(name: str, data: bytes) -> None:
    if not data.strip():
        raise BadInput(f"{name} is empty: there is nothing to run")
    if b"\0" in data:
        raise BadInput(f"{name} is a binary file; name a batch script or a Python file")
    if len(data) > LARGEST:
        raise BadInput(f"{name} is larger than {LARGEST // 1024**2} MB; name the script itself")
