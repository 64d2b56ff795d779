"""What the model in use says about failures that no rule knows.

    python -m bench.accuracy.model_diagnoses [--set tuned|held-out] [--no-examples] [--taught]

Prints each case with the reason that a person would give, the rules' answer and the model's, and
the seconds it took. The cases are made up, by people's own programs that follow no framework's
words: the first half was looked at while the prompt was written, the second was not.
`--no-examples` shows the model no similar cases; `--taught` teaches a fresh memory one answer of
another site to a similar failure first.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench.command import command_line, model_in_use
from schedmate.handler import Case, Handler, NamedLog, handler
from schedmate.model import Asker, ModelError
from schedmate.model.lessons import Origin
from schedmate.store.sqlite import SqliteStore

NOISE = "".join(f"[sweeper] {n} temporary files looked at\n" for n in range(100, 3000, 100))
"""What a program may still say after it has given up."""

TUNED = (
    (
        "data_error",
        (
            "step=20/120 loss=0.7\n[shards] record 371 of shard 3 is cut short: 512 bytes "
            "announced, 128 found\n[shards] giving up\n"
        ),
    ),
    (
        "auth_error",
        "loading weights\n[hub] your token has no access to this gated model, ask its owner\nbye\n",
    ),
    (
        "disk_full",
        "epoch 3 done\nwriter: only 0 bytes remain on /scratch, cannot save weights\nstopped\n",
    ),
    (
        "gpu_oom",
        "allocating activations\nthe accelerator has 2 GiB left but 6 GiB were requested\n"
        "abort\n" + NOISE,
    ),
    (
        "service_unreachable",
        "starting\ntracking server at 10.0.0.3 did not answer within 30 s\ngave up\n",
    ),
    (
        "argument_error",
        "reading config\nunknown optimiser 'adamm' in section [train], choose adam or sgd\n",
    ),
    (
        "checkpoint_mismatch",
        (
            "resuming from out/step-40\nthe saved model has 12 layers, this one "
            "has 24\nrefusing to go on\n"
        ),
    ),
    (
        "loss_nan",
        "step 100 loss 2.1\nstep 120 loss 88123.0\nstep 140 training diverged, loss is no "
        "longer a number\nstop\n" + NOISE,
    ),
    (
        "file_not_found",
        (
            "preparing vocabulary\nlexicon /data/lex/de.txt was never created, run the "
            "preparation first\nquit\n"
        ),
    ),
    (
        "host_oom",
        (
            "building index\nindexer: the machine's main memory is used up (503 of 503 GiB), "
            "dropping out\n"
        ),
    ),
    (
        "permission_denied",
        "opening store\nowner of bucket dir is alice, you are bob and may not write here\nending\n",
    ),
    (
        "storage_io",
        "step 900\nreader: the parallel file system gave back garbage while reading "
        "block 71\nstopping run\n" + NOISE,
    ),
)
HELD_OUT = (
    (
        "data_error",
        (
            "worker 2 ready\ntokenizer: sentence 88123 holds bytes that are no text at "
            "all, please clean the corpus\nending\n"
        ),
    ),
    (
        "auth_error",
        "contacting registry\nregistry says: your login ran out yesterday, sign in "
        "anew\nleaving\n" + NOISE,
    ),
    (
        "disk_quota",
        (
            "saving state\nyour group has used all 2.0 TB it was granted on /project, "
            "delete something\nbailing out\n"
        ),
    ),
    (
        "gpu_oom",
        "batch 1\nplanner: activations need 91 GB, the card offers 80 GB\nno plan, leaving\n",
    ),
    (
        "service_unreachable",
        "fetching base model\nmirror mirror.example.org stays silent after 5 "
        "tries\nleaving\n" + NOISE,
    ),
    (
        "argument_error",
        (
            "parsing recipe\nthe recipe asks for warmup 5000 but the whole run is 1000 "
            "steps long, fix the recipe\n"
        ),
    ),
    (
        "checkpoint_corrupt",
        (
            "warm start\nsnapshot step-800 ends in the middle of tensor 14, it was "
            "never written to the end\nhalt\n"
        ),
    ),
    (
        "loss_nan",
        (
            "it 10 obj 3.2\nit 20 obj 9e18\nit 30 objective went to infinity, weights are "
            "useless now\nhalt\n"
        ),
    ),
    (
        "import_error",
        (
            "plugins: loading\nplugins: 'fastrope' is nowhere to be found in this "
            "environment, install it\nhalt\n"
        ),
    ),
    (
        "shape_mismatch",
        "building net\nlayer 3 hands over 768 features, layer 4 takes 1024\nhalt\n" + NOISE,
    ),
    (
        "network",
        (
            "ring of 8 nodes\nnode gpu07 cannot be heard by gpu03 any more, cable or switch?\n"
            "leaving the ring\n"
        ),
    ),
    (
        "compile_error",
        (
            "specialising kernels\nkernel softmax_bwd did not build for this card, 3 "
            "lines were not understood\nhalt\n"
        ),
    ),
)
TAUGHT = (
    ("disk_quota", "your team has used up all 4.0 TB granted on /work, remove something"),
    ("gpu_oom", "planner: the activations need 60 GB, the card has 40 GB"),
    ("checkpoint_corrupt", "snapshot step-20 ends in the middle of tensor 3"),
    ("storage_io", "reader: the parallel file system returned garbage for block 9"),
    ("host_oom", "indexer: main memory is used up (250 of 256 GiB)"),
)


def main() -> None:
    options = _options()
    asker = model_in_use()
    if options.no_examples:
        handler.similar = lambda *_, **__: ()  # type: ignore[attr-defined]
    cases = TUNED if options.set == "tuned" else HELD_OUT
    right = 0
    print(f"{'wanted':<20} {'rules':<10} {'model':<20} {'seconds':>7}  line")
    for wanted, log in cases:
        with tempfile.TemporaryDirectory() as folder:
            right += _ask(asker, wanted, log, Path(folder), taught=options.taught)
    print(f"\n{right} of {len(cases)} as a person would say")


def _ask(asker: Asker, wanted: str, log: str, folder: Path, *, taught: bool) -> bool:
    case = Case(logs=(NamedLog("job.log", log.encode()),), exit_code=1)
    with closing(SqliteStore(folder / "store.sqlite3")) as store:
        if taught:
            _teach(store)
        mate = Handler(store, asker)
        rules = mate.diagnose(case)
        begun = time.monotonic()
        try:
            model = mate.ask_model(case, rules)
        except ModelError as error:
            print(f"{wanted:<20} {rules.reason:<10} {error}")
            return False
    line = model.evidence[0].text if model.source == "llm" else "-"
    took = time.monotonic() - begun
    print(f"{wanted:<20} {rules.reason:<10} {model.reason:<20} {took:7.1f}  {line}", flush=True)
    return model.reason == wanted


def _teach(store: SqliteStore) -> None:
    for reason, line in TAUGHT:
        past = Case(logs=(NamedLog("past.log", f"{line}\n".encode()),), exit_code=1)
        origin = Origin(teacher="operator", by="bench", about="past.log", at=time.time())
        Handler(store).correct(past, reason, origin, make_rule=False)


def _options() -> argparse.Namespace:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--set", choices=("tuned", "held-out"), default="tuned")
    parser.add_argument("--no-examples", action="store_true")
    parser.add_argument("--taught", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
