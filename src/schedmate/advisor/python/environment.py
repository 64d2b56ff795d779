"""Variables of the environment, and `sys.argv`, as the script sets them."""

from __future__ import annotations

from schedmate.advisor.launch import PythonRun
from schedmate.advisor.python.values import NOBODY_KNOWS, Sequence, Table, Value
from schedmate.advisor.shell import Word
from schedmate.model import Source

_RANKS = ("RANK", "LOCAL_RANK", "GROUP_RANK")
_UNKNOWN = ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_SLURM = ("SLURM_PROCID", "SLURM_LOCALID")
_SPAWNS = ("torchrun", "torch.distributed", "accelerate", "deepspeed", "torch.distributed.run")


def environ(run: PythonRun) -> Value:
    """`os.environ`: a launcher sets ranks, and we follow rank 0."""
    parts = {name: of_word(word, "script") for name, word in run.env.items()}
    launched = any(spawner in name for name in run.launchers for spawner in _SPAWNS)
    if launched:
        parts = {
            **dict.fromkeys(_RANKS, Value("0")),
            **dict.fromkeys(_UNKNOWN, NOBODY_KNOWS),
        } | parts
    if any(name.endswith("srun") for name in run.launchers):
        parts = {**dict.fromkeys(_SLURM, Value("0"))} | parts
    return Value(Table(parts, "environ", complete=False))


def argv(run: PythonRun) -> Value:
    words = [of_word(word, "cli") for word in run.arguments]
    return Value(Sequence([Value(run.entry.name), *words]), source="cli")


def of_word(word: Word, source: Source) -> Value:
    return Value(word.text, word.evidence, source) if word.known else NOBODY_KNOWS
