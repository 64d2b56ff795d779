from __future__ import annotations

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.testing.history import MemoryHistory
from schedmate.testing.llm import ScriptedAsker


@pytest.fixture
def job(tmp_path):
    """Writes files and advises on `python train.py`, with what a scripted model says."""
    memory = MemoryHistory()

    def advise(files, script, *words, command=("python", "train.py")):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        asker = script if script is None or hasattr(script, "ask") else ScriptedAsker(script)
        target = Target.from_command(tmp_path, (*command, *words))
        return Advisor(memory, memory, asker).advise(target), asker

    return advise


def first_of_everything(schema, _prompt):
    """Picks what is shown first, as a small model does."""
    return {
        name: field["enum"][0] for name, field in schema.model_json_schema()["properties"].items()
    }


@pytest.fixture
def pick_first():
    return first_of_everything
