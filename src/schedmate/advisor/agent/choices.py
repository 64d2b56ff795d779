"""What a model may choose from: values that were interpreted through the code, each with its line.

A model that can only pick one of these can neither invent nor misquote. Comments and help texts
are no values of the code, so nothing that is written there can be picked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from schedmate.advisor.agent.fields import Topic
from schedmate.advisor.agent.gaps import Choice
from schedmate.advisor.agent.grounding import stands_in
from schedmate.advisor.agent.named import Kind, Named
from schedmate.advisor.frameworks.task_words import tasks_in
from schedmate.advisor.settle.dataset_names import dataset_name
from schedmate.advisor.settle.meanings import Meaningless, meaning
from schedmate.advisor.settle.vocabulary import field_of
from schedmate.advisor.sources.words import words
from schedmate.model import Evidence
from schedmate.model.redaction import redact

MOST_CHOICES: Final = 4
_LONGEST_TEXT: Final = 80
_TELLS_THE_TASK: Final = ("stated", "file", "model", "dataset")
_NUMBERS: Final = words(
    "batch_size epochs max_steps learning_rate sequence_length gradient_accumulation "
    "checkpoint_every"
)
_FILE: Final = re.compile(r"\.[A-Za-z]\w{0,9}$")
_CLASS_OF_DATA: Final = re.compile(r"(?:Data[Ss]et|Corpus)$")
_VERSION: Final = re.compile(r"[vV]?\d[\d._-]{0,20}")
_PRETRAINED: Final = re.compile(r"(?i)pre-?train")
"""Every model is, whatever it is used for."""
_WORD: Final = r"^(?!-)[\w@.+/:%{}= -]{2,120}$"
_OPTIMIZER: Final = re.compile(
    r"(?i)^\w{0,20}(?:adam|sgd|lamb|lion|adafactor|rmsprop|muon|adagrad|shampoo|lars|sophia"
    r"|novograd|prodigy|ranger|madgrad|lbfgs|adadelta)\w{0,20}$"
)
_NAMES_OF: Final[dict[str, dict[Kind, re.Pattern[str]]]] = {
    "model": {
        "literal": re.compile(r"^[A-Za-z][\w.+/-]{2,80}$"),
        "class": re.compile(
            r"^(?!.*(?:Dataset|Loader|Config|Manager|Loss|Logger|Arguments))[A-Z]\w{2,60}$|_"
        ),
    },
    "dataset": {
        "literal": re.compile(r"^(?:[a-z0-9]{2,10}://)?[^%:,\s]{2,200}$"),
        "class": re.compile(
            r"^(?!(?:My|Custom|Base|Simple|Train|Text|Image|Torch|Lazy|Supervised|Tensor|The|Toy)?"
            r"(?:Text|Image|Training|Sequence)?(?:Data|Corpus|Reader))\w{3,60}(?:Data[Ss]et|Corpus)$"
        ),
    },
    "optimizer": {"literal": _OPTIMIZER, "class": _OPTIMIZER},
    "checkpoint_dir": {"literal": re.compile(_WORD)},
}


def choices(topic: Topic, named: Sequence[Named]) -> list[Choice]:
    """The likeliest first; none where unknown something decides."""
    if any(each.undecided and _is_of(topic, each.name) for each in named):
        return []
    made = _tasks(named) if topic.field == "task" else _values(topic, named)
    found: dict[str, Choice] = {}
    for choice in made:
        if redact(choice.shown) == choice.shown:
            found.setdefault(choice.shown.lower(), choice)
        if len(found) == MOST_CHOICES:
            break
    return list(found.values())


def _is_of(topic: Topic, name: str) -> bool:
    field = field_of(name)
    return field is not None and field[0] == topic.field


def _values(topic: Topic, named: Sequence[Named]) -> Iterator[Choice]:
    for each in sorted(named, key=lambda one: one.rank):
        if each.undecided or not topic.concerns(each.name) or not _fits(topic.field, each):
            continue
        value = _meant(topic.field, each)
        line = None if value is None else _line(each, value)
        if line is not None:
            yield Choice(value, each.name, line)


def _fits(field: str, named: Named) -> bool:
    """Whether a value of this kind can be one of the field."""
    if not isinstance(named.value, str):
        return field in _NUMBERS
    pattern = _NAMES_OF.get(field, {}).get(named.kind)
    return pattern is not None and bool(pattern.search(named.value))


def _meant(field: str, named: Named) -> Any:
    value = named.value
    if field == "checkpoint_dir":
        value = _directory(value)
    elif field == "dataset":
        value = dataset_name(_CLASS_OF_DATA.sub("", value) if named.kind == "class" else value)
        value = None if value is None or _VERSION.fullmatch(value) else value
    try:
        value = meaning(field, named.name, value)
    except Meaningless:
        return None
    return None if isinstance(value, str) and len(value) > _LONGEST_TEXT else value


def _directory(path: str) -> str:
    """Of a file the directory it is in."""
    return path.rpartition("/")[0] if _FILE.search(path) else path


def _line(named: Named, value: Any) -> Evidence | None:
    for line in named.lines:
        if stands_in(value, line.text) or stands_in(named.value, line.text):
            return line
    return None


def _tasks(named: Sequence[Named]) -> Iterator[Choice]:
    """Tasks that some word of the job speaks of."""
    for each in sorted(named, key=lambda one: one.rank):
        if each.undecided or not isinstance(each.value, str) or not each.lines:
            continue
        text = each.value[:_LONGEST_TEXT]
        if each.kind == "library" or _PRETRAINED.search(text):
            continue
        for kind in _TELLS_THE_TASK:
            for task in tasks_in(kind, text):
                yield Choice(task, each.name, each.lines[0])
