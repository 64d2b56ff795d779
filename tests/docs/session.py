"""Runs the `$ ` commands of a page one after the other, as a reader would type them.

What a page shows below a command must come out; `...` stands for anything. A command without
output below it only has to succeed. One that fails is followed by `$ echo $?`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from schedmate.config import LocalSettings
from schedmate.schedulers.local import LocalScheduler
from tests.schedulers.gpu_box import GpuBox
from warm_python import WarmPython

SOURCE = Path(__file__).parents[2] / "src"
_LOOK = re.compile(r"schedmate (jobs|job|eta|logs|why|doctor|nodes|history list)\b")
_PATIENCE_S = 60.0
_SLOTS = 2


@dataclass(frozen=True, slots=True)
class Step:
    command: str
    expected: str


def steps(text: str) -> list[Step]:
    """`$ ` begins a command, `> ` goes on with it, the rest is what it prints."""
    found: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0].append(line[2:])
        else:
            found[-1][1].append(line.rstrip())
    return [Step("\n".join(command), "\n".join(shown)) for command, shown in found]


def fits(expected: str, printed: str) -> bool:
    lines = [
        r"(?:[^\n]*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in expected.splitlines()
    ]
    told = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch("".join(lines), told) is not None


class Session:
    """A directory, a state and a `schedmate` on the PATH for one page; with `gpus` there seem to
    be so many, the last two in use. `python` runs what a reader waits for."""

    def __init__(self, folder: Path, python: WarmPython, *, gpus: int = 0) -> None:
        self.folder = folder / "work"
        self._state = folder / "state"
        self._background: list[subprocess.Popen[bytes]] = []
        self._code = 0
        for path in (self.folder, folder / "bin", folder / "warm"):
            path.mkdir()
        shim = folder / "bin" / "schedmate"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m schedmate "$@"\n')
        warm = folder / "warm" / "schedmate"
        warm.write_text(python.script("-m", "schedmate"))
        for program in (shim, warm):
            program.chmod(0o755)
        self._warm = str(warm.parent)
        ours = ("SCHEDMATE_", "SLURM_", "XDG_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        path = f"{shim.parent}:{Path(sys.executable).parent}:{kept.get('PATH', '')}"
        self._env = kept | {
            "PATH": path,
            "HOME": str(folder),
            "PYTHONPATH": str(SOURCE),
            "NO_COLOR": "1",
            "SCHEDMATE_STATE_DIR": str(self._state),
            "SCHEDMATE_CACHE_DIR": str(folder / "cache"),
            "SCHEDMATE_LLM__ENABLED": "false",
            "SCHEDMATE_LOCAL__SLOTS": str(_SLOTS),
            "SCHEDMATE_SUBMIT__ADVICE": "always",  # as a reader's terminal shows it
        }
        if gpus:
            box = GpuBox(folder / "box", count=gpus)
            box.show(busy={gpus - 2: [1], gpus - 1: [1]})
            (folder / "locks").mkdir()
            self._env["PATH"] = f"{box.root / 'bin'}:{path}"
            self._env["SCHEDMATE_LOCAL__LOCK_DIR"] = str(folder / "locks")
            self._env["SCHEDMATE_SUBMIT__ADVICE"] = "never"
            del self._env["SCHEDMATE_LOCAL__SLOTS"]

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, step: Step) -> str:
        """What the command printed. A look is repeated until it shows what the page shows."""
        if step.command.endswith(" &"):
            self._background.append(self._begin(step.command.removesuffix(" &")))
            return ""
        if step.command == "kill %1":
            self.end_background()
            return ""
        deadline = time.monotonic() + (_PATIENCE_S if _LOOK.search(step.command) else 0)
        printed = self._once(step.command)
        while not fits(step.expected, printed) and time.monotonic() < deadline:
            time.sleep(0.2)
            printed = self._once(step.command)
        return printed

    @property
    def failed(self) -> bool:
        return self._code != 0

    def end_background(self) -> None:
        for process in self._background:
            process.terminate()
            process.wait(60)
        self._background.clear()

    def close(self) -> None:
        self.end_background()
        if (self._state / "local").exists():
            LocalScheduler(self._state / "local", LocalSettings(slots=_SLOTS)).stop()

    def _begin(self, command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["bash", "-c", _only_one_process(command)], cwd=self.folder, env=self._env
        )

    def _once(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", f"(exit {self._code})\n{command}"],
            cwd=self.folder,
            env=self._env | {"PATH": f"{self._warm}:{self._env['PATH']}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        self._code = done.returncode
        return done.stdout.decode(errors="replace")


def _only_one_process(command: str) -> str:
    """A signal is for the program, not for the shell around it."""
    variables, program = re.fullmatch(r"((?:\w+=\S+ )*)(.*)", command).groups()
    return f"{variables}exec {program}" if not variables else f"export {variables}; exec {program}"
