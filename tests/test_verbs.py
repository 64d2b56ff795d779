"""What every verb owes its user."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import click
import pytest
from click.testing import CliRunner

from schedmate.cli import VERBS, root

SOURCE_OF_THE_PROGRAM = os.pathsep.join(path for path in sys.path if path)


def is_there(verb: str) -> bool:
    return find_spec(f"schedmate.cli.{verb}") is not None


def commands() -> list[tuple[str, click.Command]]:
    """Every verb that is there, a group by its own verbs: `history import`, `model install`."""
    found: list[tuple[str, click.Command]] = []
    for verb in VERBS:
        if not is_there(verb):
            continue
        command = import_module(f"schedmate.cli.{verb}").command
        if isinstance(command, click.Group):
            found += [(f"{verb} {name}", below) for name, below in command.commands.items()]
        else:
            found.append((verb, command))
    return found


each_command = pytest.mark.parametrize(
    ("words", "command"), [pytest.param(*pair, id=pair[0]) for pair in commands()]
)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_is_listed_is_there(verb):
    assert is_there(verb), f"schedmate/cli/{verb}.py"


@each_command
def test_a_verb_answers_help_with_examples(words, command):
    result = CliRunner().invoke(root, [*words.split(), "--help"])

    assert result.exit_code == 0, result.output
    assert "Examples:" in result.output
    assert f"schedmate {words}" in result.output.split("Examples:")[1]


@each_command
def test_a_verb_has_json(words, command):
    assert any("--json" in option.opts for option in command.params)


@pytest.mark.processes
@pytest.mark.parametrize("verb", [verb for verb in VERBS if is_there(verb)])
def test_help_imports_nothing_heavy(verb):
    code = (
        f"import sys; import schedmate.cli.{verb}; "
        "print([m for m in ('pydantic', 'rich', 'numpy', 'sqlite3') if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": SOURCE_OF_THE_PROGRAM},
        capture_output=True,
        text=True,
        check=True,
    )

    assert loaded.stdout.strip() == "[]"


def test_the_list_of_verbs_imports_none_of_them():
    result = CliRunner().invoke(root, ["--help"])

    assert result.exit_code == 0
    assert all(verb in result.output for verb in VERBS)


def test_an_unknown_verb_is_a_usage_error():
    result = CliRunner().invoke(root, ["dance"])

    assert result.exit_code == 2
    assert "no verb is called 'dance'" in result.output


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("squeue", "jobs"),
        ("scancel", "cancel"),
        ("trak", "track"),
        ("Jobs", "jobs"),
        ("diagnoze", "diagnose"),
        ("simulat", "simulate"),
    ],
)
def test_a_misspelt_verb_is_answered_with_the_nearest(typed, meant):
    result = CliRunner().invoke(root, [typed])

    assert result.exit_code == 2
    assert f"no verb is called '{typed}'; is {meant} meant?" in result.output


@pytest.mark.processes
def test_a_caller_in_python_outlives_a_verb():
    """Background work that is left behind ends a program at once, but not one that calls it."""
    program = """
from schedmate.cli import main
from schedmate.service.daemon.background import BackgroundQueue
queue = BackgroundQueue()
try:
    main(["--version"])
except SystemExit:
    queue.close()
    print("still here")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": SOURCE_OF_THE_PROGRAM},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("still here\n")
