"""What a job is for, by what it learns from and how it is judged: losses, measures, layers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import is_of, last_name, text_of
from schedmate.advisor.frameworks.task_signs import LABELS, Hint
from schedmate.advisor.frameworks.task_words import CLASSES, tasks_in
from schedmate.advisor.interpret.python.values import Call
from schedmate.model import Evidence

_NAMES = (
    (
        "segmentation",
        re.compile(r"dice_?(?:loss|coef|score|metric)|jaccard_?loss|mean_?iou|m_?iou|tversky"),
    ),
    (
        "object_detection",
        re.compile(r"mean_?average_?precision|generalized_box_iou|box_iou|non_?max_?suppression"),
    ),
    ("translation", re.compile(r"(?:^|_)sacre_?bleu(?:$|_)")),
    ("speech", re.compile(r"(?:^|_)(?:wer|cer|pesq|stoi|mel_?spectrogram|ctc_?loss)(?:$|_)")),
    ("language_modeling", re.compile(r"perplexity|ForLanguageModeling".lower())),
)
_SHARED = (("summarization", re.compile(r"(?:^|_)rouge")),)
"""Measures of any generated text."""
_CONVOLVES = re.compile(r"(?:^|\.)(?:Conv2d|Conv2D|conv2d)$")
_DRAWS = re.compile(
    r"(?:^|\.)(?:ConvTranspose[23]d|Conv[23]DTranspose|UpSampling[23]D|Upsample|interpolate|"
    r"PixelShuffle|LSTM|GRU|Embedding|TransformerEncoder|MSELoss|L1Loss|SmoothL1Loss|HuberLoss)$"
)
_NUMBERS = re.compile(
    r"(?:^|\.)(?:MSELoss|L1Loss|SmoothL1Loss|HuberLoss|mse_loss|l1_loss|smooth_l1_loss|huber_loss)$"
)
_READS_TEXTS = re.compile(r"Tokenizer(?:Fast)?\.from_pretrained$")
_ENCODERS = re.compile(
    r"^transformers\.(?:AutoModel|Bert|Roberta|DistilBert|Albert|Deberta\w{0,3}|Electra|XLM\w{0,12})"
    r"(?:Model)?\.from_pretrained$"
)
_BY_LABELS = frozenset(
    {"categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"}
)


def classes_of_its_own(reading: Reading) -> Iterator[Hint]:
    """`class Tagger(BertForTokenClassification)`: named after, or built on, a library's."""
    for each in reading.trace.classes:
        names = [each.name, *(text_of(base) or "" for base in each.bases)]
        yield from (
            (task, each.line)
            for task, pattern in CLASSES
            if any(pattern.search(name) for name in names)
        )


def own_data(reading: Reading) -> Iterator[Hint]:
    """`SegmentationDataModule`: a data set of the job's own that is called after its labels."""
    for each in reading.trace.instances:
        if re.search(r"Data(?:set|Module|Loader)$", each.of.name):
            yield from ((task, each.line) for task in tasks_in("file", each.of.name))


def measures(reading: Reading) -> Iterator[Hint]:
    """By losses and measures that belong to one kind of job."""
    return _by_names(reading, _NAMES)


def shared_measures(reading: Reading) -> Iterator[Hint]:
    """By measures that decide between kinds of jobs, and are none's alone."""
    return _by_names(reading, _SHARED)


def _by_names(reading: Reading, names: Iterable[tuple[str, re.Pattern[str]]]) -> Iterator[Hint]:
    named = [(last_name(call.callee), call.line) for call in reading.trace.calls]
    named += [(last_name(each.name), each.line) for each in reading.trace.functions]
    named += [(each.of.name, each.line) for each in reading.trace.instances]
    for name, line in named:
        word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        yield from ((task, line) for task, pattern in names if pattern.search(word))


def layers(reading: Reading) -> Iterator[Hint]:
    """Labels for pictures: convolutions that nothing undoes. Labels for texts: an encoder of a
    language model without a head."""
    calls = reading.trace.calls
    judged = next((call.line for call in calls if _by_labels(call)), None)
    if judged is None:
        return
    encoder = _first(calls, _ENCODERS)
    if encoder is not None and _first(calls, _READS_TEXTS) is not None:
        yield "sequence_classification", encoder
        return
    convolution = _first(calls, _CONVOLVES)
    if convolution is not None and _first(calls, _DRAWS) is None:
        yield "image_classification", convolution


def numbers(reading: Reading) -> Iterator[Hint]:
    """Where numbers are learnt and no labels, nothing that has a name of its own is."""
    found = _first(reading.trace.calls, _NUMBERS)
    if found is not None and without_labels(reading):
        yield "other", found


def without_labels(reading: Reading) -> bool:
    """Whether numbers are learnt and no labels: a network for pictures may be for anything then."""
    calls = reading.trace.calls
    return _first(calls, _NUMBERS) is not None and not any(_by_labels(call) for call in calls)


def _by_labels(call: Call) -> bool:
    loss = text_of(call.keywords.get("loss")) or ""
    return bool(LABELS.search(call.callee)) or loss in _BY_LABELS


def _first(calls: list[Call], pattern: re.Pattern[str]) -> Evidence | None:
    return next((call.line for call in calls if pattern.search(call.callee)), None)


def tables(reading: Reading) -> Iterator[Hint]:
    """Columns that are scaled or encoded for a network, with no picture, text or sound in sight."""
    if any(is_of(each.name, *_OTHER_MATTER) for each in reading.trace.imports):
        return
    for call in reading.trace.calls:
        if is_of(call.callee, "sklearn.preprocessing"):
            yield "tabular", call.line
            return


_OTHER_MATTER = (
    *("torchvision", "PIL", "cv2", "transformers", "tokenizers", "librosa", "torchaudio", "nltk"),
    *("torch_geometric", "dgl", "rdkit", "skimage", "albumentations", "soundfile", "gym"),
    *("gymnasium", "imageio", "monai", "nibabel", "pydicom", "spacy", "gensim", "timm", "Bio"),
)
