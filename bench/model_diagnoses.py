"""What the model in use says about failures that no rule knows.

    python bench/model_diagnoses.py

Prints each case with the reason that a person would give, the rules' answer and the model's,
and the seconds it took. The cases are made up; they are an illustration, not an exam.
"""

from __future__ import annotations

import sys
import time

from schedmate import config
from schedmate.handler import Case, Handler, NamedLog
from schedmate.llm import open_asker
from schedmate.model import ModelError
from schedmate.testing.llm import MemoryLedger

CASES = {
    "data_error": "step=20/120 loss=0.7\n[shards] record 371 of shard 3 is cut short: 512 bytes "
    "announced, 128 found\n[shards] giving up",
    "auth_error": "loading weights\n[hub] your token has no access to this gated model, ask its "
    "owner\nbye",
    "disk_full": "epoch 3 done\nwriter: only 0 bytes remain on /scratch, cannot save weights\n"
    "stopped",
    "gpu_oom": "allocating activations\nthe accelerator has 2 GiB left but 6 GiB were requested\n"
    "abort",
    "service_unreachable": "starting\ntracking server at 10.0.0.3 did not answer within 30 s\n"
    "gave up",
    "argument_error": "reading config\nunknown optimiser 'adamm' in section [train], choose adam "
    "or sgd\n",
    "checkpoint_mismatch": "resuming from out/step-40\nthe saved model has 12 layers, this one has "
    "24\nrefusing to go on",
    "loss_nan": "step 100 loss 2.1\nstep 120 loss 88123.0\nstep 140 training diverged, loss is no "
    "longer a number\nstop",
}


def main() -> None:
    settings = config.load()
    asker = open_asker(settings.llm, cache_dir=settings.cache_dir, ledger=MemoryLedger())
    if asker is None:
        sys.exit("no language model is configured or installed: schedmate model install")
    handler = Handler(None, asker)
    right = 0
    print(f"{'wanted':<20} {'rules':<10} {'model':<20} {'seconds':>7}  line")
    for wanted, log in CASES.items():
        case = Case(logs=(NamedLog("job.log", log.encode()),), exit_code=1)
        rules = handler.diagnose(case)
        begun = time.monotonic()
        try:
            model = handler.ask_model(case, rules)
        except ModelError as error:
            print(f"{wanted:<20} {rules.reason:<10} {error}")
            continue
        right += model.reason == wanted
        line = model.evidence[0].text if model.source == "llm" else "-"
        took = time.monotonic() - begun
        print(f"{wanted:<20} {rules.reason:<10} {model.reason:<20} {took:7.1f}  {line}")
    print(f"\n{right} of {len(CASES)} as a person would say")


if __name__ == "__main__":
    main()
