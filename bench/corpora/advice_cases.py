"""Labelled jobs: their files, and what a careful person reads out of them.

One of ours is a directory with `case.toml` and the job's files in `job/`. One of a public
repository is a `.toml` alone that names the repository and the commit; its code is not stored here
and is read from the clones that the command is given.

script = "train.sh"             # as submitted; or command = ["torchrun", "train.py", "--lr", "1"]
args = []                       # behind the script
directory = "."                 # where it is submitted, below the job's files
repository = "owner/name"       # public ones: with the commit
commit = "0123456789..."
made_by = "composed: a Lightning job of a vision group"
unjudged = ["log_files"]        # fields that have no single right answer

[expected.batch_size]
value = 32
accept = [256]                  # other values that are right as well
at = ["train.sh:12"]            # the lines that state it, any of them will do
required = false                # it may also be left out

Every other field of the record is stated nowhere: an answer there is invented.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from schedmate.advisor import Target
from schedmate.model import Workload
from schedmate.model.wire import from_json

OWN = Path(__file__).parent / "advice" / "own"
PUBLIC = Path(__file__).parent / "advice" / "public"
BLIND = Path(__file__).parent / "advice" / "blind"
"""Public jobs, labelled by people who had not seen the advisor and scored at first sight."""
HELD_OUT = Path(__file__).parent / "advice" / "held_out"
UNSEEN = Path(__file__).parent / "advice" / "unseen"
"""More of them, labelled later."""
_BLOB = re.compile(
    rb"(?P<mode>\d+) blob (?P<name>[0-9a-f]+) +(?P<size>\d+)\t(?P<path>.+)", re.DOTALL
)
_LARGEST = 1_000_000
FIELDS = tuple(each.name for each in fields(Workload))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    value: Any
    accept: tuple[Any, ...] = ()
    at: tuple[str, ...]
    required: bool = True
    """Else nothing is missing where it is not said: it follows by arithmetic, or by a default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The contents of a case's file."""

    made_by: str
    script: str | None = None
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    directory: str = "."
    repository: str | None = None
    commit: str | None = None
    unjudged: tuple[str, ...] = ()
    expected: Mapping[str, Expected] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = {*self.expected, *self.unjudged} - {*FIELDS}
        if unknown:
            raise ValueError(f"not fields of the record: {', '.join(sorted(unknown))}")
        if (self.script is None) == (not self.command):
            raise ValueError("a case has either a script or a command")

    def target(self, files: Path) -> Target:
        workdir = files / self.directory
        if self.script is not None:
            return Target.from_script(workdir, self.script, self.args)
        return Target.from_command(workdir, self.command)


@dataclass(frozen=True, slots=True)
class LabelledJob:
    name: str
    label: Label
    files: Path
    """The job's directory; for a public one the file of the case."""

    @contextmanager
    def unpacked(self, clones: Path | None) -> Iterator[Path | None]:
        """The job's directory; None where it is a public one whose clone is not there."""
        if self.label.repository is None:
            yield self.files
            return
        git = None if clones is None else _git_directory(clones, self.label.repository)
        if git is None or not _has(git, self.label.commit or "HEAD"):
            yield None
            return
        with tempfile.TemporaryDirectory() as scratch:
            _unpack(git, self.label.commit or "HEAD", Path(scratch))
            yield Path(scratch)


def read_cases(*directories: Path) -> list[LabelledJob]:
    found = [
        (path, path.parent / "job" if path.name == "case.toml" else path)
        for directory in directories
        for path in sorted(directory.rglob("*.toml"))
        if path.name == "case.toml" or path.parent == directory
    ]
    return [LabelledJob(_name(path), _label(path), files) for path, files in found]


def _name(path: Path) -> str:
    return path.parent.name if path.name == "case.toml" else path.stem


def _label(path: Path) -> Label:
    try:
        return from_json(Label, tomllib.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _git_directory(clones: Path, repository: str) -> Path | None:
    """`owner/name`, `owner+name` or what a mirror has below it."""
    for name in (repository, repository.replace("/", "+"), repository.replace("/", "__")):
        root = clones / name
        for candidate in (
            root / ".git",
            root,
            *sorted(root.glob("*.git")),
            *sorted(root.glob("*")),
            *sorted(root.glob("*/.git")),
        ):
            if (candidate / "objects").is_dir():
                return candidate
    return None


def _has(git: Path, commit: str) -> bool:
    asked = ["git", "--git-dir", str(git), "cat-file", "-e", f"{commit}^{{commit}}"]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


def _unpack(git: Path, commit: str, into: Path) -> None:
    """Small files only: the advisor reads no others, and a mirror may lack its largest."""
    listed = _git(git, "ls-tree", "-r", "-z", "--long", commit).split(b"\0")
    blobs = [_BLOB.fullmatch(entry) for entry in listed]
    small = [blob for blob in blobs if blob is not None and int(blob["size"]) <= _LARGEST]
    names = b"\n".join(blob["name"] for blob in small)
    data = memoryview(_git(git, "cat-file", "--batch", "--buffer", asked=names))
    for blob in small:
        end = bytes(data[:200]).index(b"\n") + 1
        if bytes(data[:end]).endswith(b" missing\n"):
            data = data[end:]
            continue
        size = int(blob["size"])
        _write(into / os.fsdecode(blob["path"]), bytes(data[end : end + size]), blob["mode"])
        data = data[end + size + 1 :]


def _write(path: Path, content: bytes, mode: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == b"120000":
        path.symlink_to(os.fsdecode(content))
    else:
        path.write_bytes(content)


def _git(git: Path, *words: str, asked: bytes = b"") -> bytes:
    command = ["git", "--git-dir", str(git), *words]
    return subprocess.run(command, check=True, input=asked, stdout=subprocess.PIPE).stdout
