from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.model import ModelError
from schedmate.testing.history import MemoryHistory
from schedmate.testing.llm import ScriptedAsker

TRAIN = """\
import torch
from torch.utils.data import DataLoader
from elsewhere import Corpus, Net, knobs

SAVE_EVERY = 500
net = Net(width=512)
loader = DataLoader(Corpus("wikitext-103"), batch_size=32)
optimizer = torch.optim.AdamW(net.parameters(), lr=knobs("rate.json"))
per_update, devices = 512, 8
for step in range(9000):
    if step % SAVE_EVERY == 0:
        torch.save(net.state_dict(), "out/last.pt")
"""


def quote(file: str, line: int, text: str) -> dict[str, Any]:
    return {"file": file, "line": line, "text": text}


def change(field: str, value: Any, *quotes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"field": field, "do": "fill", "value": value, "quotes": list(quotes), **more}


def answering(*changes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An answer at once, whether or not files could be read before."""
    return {"answer": {"changes": list(changes), **more}}


def by_turn(script: list[dict[str, Any]]) -> Callable[[type[Any], str], dict[str, Any]]:
    """The answers one after the other, as the schema of the turn wants them."""
    left = list(script)

    def say(schema: type[Any], _prompt: str) -> dict[str, Any]:
        said = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(said, ModelError):
            return said
        return said if "steps" in schema.model_fields else said["answer"]

    return say


@pytest.fixture
def job(tmp_path):
    """Writes files and advises on `python train.py` with a model that reads."""
    memory = MemoryHistory()

    def advise(files, *script, words=(), command=("python", "train.py"), tier="read"):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        asker = ScriptedAsker(by_turn(list(script)), tier=tier) if script else None
        target = Target.from_command(tmp_path, (*command, *words))
        return Advisor(memory, memory, asker).advise(target), asker

    return advise
