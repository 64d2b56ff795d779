"""What a model is asked about a job, and by which names code speaks of it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from schedmate.advisor.sources.words import words
from schedmate.model import Workload


@dataclass(frozen=True, slots=True)
class Topic:
    """A field of the record: what it is in plain words, and the names that may stand for it."""

    field: str
    gloss: str
    names: re.Pattern[str]
    others: re.Pattern[str] | None = None
    """Names that speak of something else although `names` fits them."""

    def concerns(self, name: str) -> bool:
        """By its last part: what an object is called says little about its parts."""
        lowered = name.rpartition(".")[2].replace("-", "_").lower()
        return bool(self.names.search(lowered)) and not (
            self.others and self.others.search(lowered)
        )


def _topic(field: str, gloss: str, names: str, others: str = "") -> Topic:
    return Topic(field, gloss, re.compile(names), re.compile(others) if others else None)


_NOT_OF_TRAINING = r"val|test|eval|infer|log|print|plot|display|viz|warm|patience|demo|sample"
_EVERY = r"every|interval|freq|period|each"

TOPICS: Final = (
    _topic("task", "what kind of problem it learns", r"."),
    _topic(
        "model",
        "the network that is trained",
        r"model|net(?:work)?\b|arch|backbone|pretrain|transformer",
        r"dir|file|url|save|out|ema|loss|parallel|optim|sched|loader|metric|input|output|wandb|project"
        r"|attr|add_|type|config|token|class_path|modules?\b|impl|factory|engine",
    ),
    _topic(
        "dataset",
        "the data it is trained on",
        r"data|corpus|train|root|csv|benchmark|env_?id|env_?name|dir\b|path|file|folder",
        r"loader|len|num|size|batch|epoch|step|val|test|eval|transform|worker|save|out|wandb|model"
        r"|optim|metadata|dtype|date|update|split|log|ckpt|checkpoint|exp|result|resume|work|config"
        r"|pretrain|token|vocab|cache|weights|plot|fig|dirpath|key|impl|trunc|type|column|format|error"
        r"|loss|board|class_path|^file$|sampler|merge|parallel|shard|strategy|snapshot|tb_|exists|isdir",
    ),
    _topic(
        "batch_size",
        "samples in one training step",
        r"batch|\bbs\b|bsz|samples_per|ims_per",
        rf"{_NOT_OF_TRAINING}|norm|accum|batches|idx|{_EVERY}",
    ),
    _topic(
        "epochs",
        "passes over the training data in all",
        r"epoch|rounds?\b|passes",
        rf"{_NOT_OF_TRAINING}|{_EVERY}|start|decay|milestone|drop|resume|per_epoch|step",
    ),
    _topic(
        "max_steps",
        "training steps in all",
        r"steps?\b|iter|updates\b|timesteps|frames\b",
        rf"{_NOT_OF_TRAINING}|{_EVERY}|start|decay|accum|save|ckpt|checkpoint|diffusion|noise|resume"
        r"|worker|per_|n_steps|size|lr|gamma",
    ),
    _topic(
        "optimizer",
        "the optimiser's name",
        r"opt",
        r"option|path|dir|sched|state|adopt|copt|zero",
    ),
    _topic(
        "learning_rate",
        "the learning rate",
        r"\blr\b|_lr\b|\blr_|learning_?rate|step_size",
        rf"{_NOT_OF_TRAINING}|decay|min|end|final|sched|gamma|factor|mult|ratio|scale|policy",
    ),
    _topic(
        "sequence_length",
        "tokens in one training sample",
        r"seq|max_?len|context|ctx|block_size|bptt|window|max_tokens",
        rf"{_NOT_OF_TRAINING}|gener|min|overlap|stride|word|char|sequential|new|manager",
    ),
    _topic(
        "gradient_accumulation",
        "batches for one optimiser step",
        r"accum|update_freq|grad_acc|micro_?steps",
        r"accumul\w*_loss|dtype",
    ),
    _topic(
        "checkpoint_dir",
        "the directory its checkpoints are written to",
        r"save|ckpt|checkpoint|out|exp|result|work|makedirs|mkdir|dump|snap|dirpath"
        r"|(?:model|weights|project|run|store)s?_?(?:dir|path|folder)",
        r"data|train|val|test|eval|load|resume|pretrain|cache|tensorboard|log|stdout|dropout|route"
        r"|expand|image|sample|input|\bsys|tokenizer|state|layout|init|class|name|graph|method|worker"
        r"|dpath|device|model_path|metric|mode\b|error|config|script|python|exists|isdir|isfile",
    ),
    _topic(
        "checkpoint_every",
        "epochs or steps between two checkpoints",
        rf"(?:save|ckpt|checkpoint|snapshot|dump)\w*(?:{_EVERY}|step|epoch|iter)"
        rf"|(?:{_EVERY})\w*(?:save|ckpt|checkpoint|snapshot)",
        r"eval|log|image|sample|total|limit|max|start",
    ),
)
ASKED: Final = frozenset(topic.field for topic in TOPICS)
_ONLY_LEARNING: Final = words(
    "epochs max_steps optimizer learning_rate gradient_accumulation checkpoint_dir checkpoint_every"
)
_WITHOUT_LEARNING: Final = {"evaluation", "inference", "preprocessing"}
_OF_TEXT: Final = {
    "language_modeling",
    "sequence_classification",
    "translation",
    "summarization",
}
_LENGTHS: Final = ("epochs", "max_steps")


def open_topics(workload: Workload, asked: Collection[str]) -> list[Topic]:
    """Of the fields that may be `asked` those that are open and that such a job would state."""
    if workload.entry_point is None:
        return []
    task = None if workload.task is None else workload.task.value
    skipped: set[str] = set()
    if task in _WITHOUT_LEARNING:
        skipped |= _ONLY_LEARNING
    if task not in _OF_TEXT:
        skipped.add("sequence_length")
    if any(getattr(workload, name) is not None for name in _LENGTHS):
        skipped.update(_LENGTHS)
    return [
        topic
        for topic in TOPICS
        if topic.field in asked
        and topic.field not in skipped
        and getattr(workload, topic.field) is None
    ]
