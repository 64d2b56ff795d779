"""The real embedded model reads a job whose names no vocabulary has."""

from __future__ import annotations

import platformdirs
import pytest

from schedmate.config import LlmSettings
from schedmate.llm import open_asker
from schedmate.llm.embedded.files import ModelFiles
from schedmate.testing.llm import MemoryLedger

CODE = """\
import torch
from elsewhere import Plankton, fit, net

noise_batch_amount = 7
images_per_training_batch = 48
snapshot_dump = "snaps/plankton"
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
fit(net, optimizer, images_per_training_batch, noise_batch_amount, write_to=snapshot_dump)
"""


@pytest.mark.embedded
@pytest.mark.timeout(900)
def test_it_tells_what_is_meant_and_quotes_the_line(job):
    cache_dir = platformdirs.user_cache_path("schedmate")
    if not ModelFiles(cache_dir).installed():
        pytest.skip("no embedded model: `schedmate model install`")
    asker = open_asker(LlmSettings(deadline_s=400), cache_dir=cache_dir, ledger=MemoryLedger())
    advised, _ = job({"train.py": CODE}, asker)
    assert advised.problem is None
    assert advised.advice.cost.llm_calls >= 1
    found = advised.advice.workload.checkpoint_dir
    assert (found.value, found.source) == ("snaps/plankton", "llm")
    assert [(line.file, line.line) for line in found.evidence] == [("train.py", 6)]
    batch = advised.advice.workload.batch_size
    assert batch is None or (batch.value, batch.source) == (48, "llm")
