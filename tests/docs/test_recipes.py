"""The recipes of CONTRIBUTING.md, followed to the letter in a copy of the source."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.pages import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CONTRACTS = {
    "tests/policies/test_contract.py": "by_user",
    "tests/policies/test_declarations.py": "widest",
    "tests/tracker/test_formats.py": "rounds",
    "tests/handler/test_rules.py": "project-quota",
}


def file_of(heading: str) -> str:
    """What the page shows as the new file."""
    section = PAGE.partition(f"## {heading}\n")[2]
    code = section.partition("```python\n")[2].partition("```")[0]
    file, marker, _ = code.partition("# try it")
    assert marker, heading
    return f'"""As CONTRIBUTING.md shows it."""\n\n{file}'


def replaced(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, (path, before)
    path.write_text(text.replace(before, after), encoding="utf-8")


def follow(source: Path) -> None:
    orderings, policies = source / "policies/orderings", source / "policies"
    (orderings / "by_user.py").write_text(file_of("An ordering"))
    line = "from schedmate.policies.orderings.by_user import OldestUserFirst\n"
    replaced(orderings / "__init__.py", "\nORDERINGS", f"{line}\nORDERINGS")
    replaced(orderings / "__init__.py", "SsfOrdering)", "SsfOrdering, OldestUserFirst)")

    (policies / "widest.py").write_text(file_of("A policy of the simulator"))
    line = "from schedmate.policies.widest import WidestFirst\n"
    replaced(policies / "registry.py", "\n_ALL: ", f"{line}\n_ALL: ")
    replaced(policies / "registry.py", "*(Fifo, ", "*(WidestFirst, Fifo, ")

    formats = source / "tracker/formats"
    (formats / "rounds.py").write_text(file_of("A log format"))
    line = "from schedmate.tracker.formats.rounds import Rounds\n"
    replaced(formats / "__init__.py", "\nFORMATS: ", f"{line}\nFORMATS: ")
    replaced(formats / "__init__.py", "    NanoGpt(),\n", "    NanoGpt(),\n    Rounds(),\n")

    rule = file_of("A failure rule").partition("rule = ")[2].rstrip()
    replaced(source / "handler/rules/storage.py", "_FILES = (\n", f"_FILES = (\n{rule},\n")


@pytest.mark.slow
@pytest.mark.processes
def test_what_was_added_as_the_page_says_passes_its_contract(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    follow(tmp_path / "src/schedmate")

    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-v", "-n0", "-p", "no:cacheprovider"),
            *("-o", f"pythonpath={tmp_path}/src tests .", "--timeout=0"),
            *CONTRACTS,
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}/src", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    passed = [line for line in done.stdout.splitlines() if "PASSED" in line]
    assert {name: any(name in line for line in passed) for name in CONTRACTS.values()} == (
        dict.fromkeys(CONTRACTS.values(), True)
    )
