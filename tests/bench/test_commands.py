"""Every benchmark is a command that explains itself, and every command in a document is one."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from bench.datasets import ROOT

COMMANDS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for part in ("accuracy", "live", "proof", "speed", "suite", "web")
    for path in (ROOT / "bench" / part).glob("*.py")
    if "\ndef main(" in path.read_text()
)
NAMED = re.compile(r"python -m (bench\.(?!corpora)[\w.]+)")
FILES = re.compile(r"\bbench/[\w./]+\w")
TEXTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--help"])

    with pytest.raises(SystemExit) as ended:
        importlib.import_module(name).main()

    printed = capsys.readouterr().out
    assert ended.value.code == 0
    assert printed.startswith(f"usage: python -m {name}")
    assert f"\n    python -m {name}" in printed


def test_the_overview_lists_every_command():
    assert set(NAMED.findall((ROOT / "bench" / "README.md").read_text())) == set(COMMANDS)


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_files_in_documents_exist(text: Path):
    content = text.read_text()

    assert set(NAMED.findall(content)) <= set(COMMANDS)
    assert [name for name in FILES.findall(content) if not (ROOT / name).exists()] == []
