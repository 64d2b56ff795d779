"""Parameters, layers and width of common models, by the many spellings of their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COLUMNS = ("parameters", "n_layer", "d_model", "n_head", "vocab_size")
_MAX_NAME = 200
_SEPARATOR = re.compile(r"[-_./: ]")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[-_./: ](?=\d)")
_ENDING = re.compile(r"([a-z0-9_-]{1,100})\.([a-z][a-z0-9_]{0,60})")
_PREFIXES = (
    "meta",
    "decapoda-research",
    "tf",
    "gluon",
    "tv",
    "hf",
    "timm",
    "microsoft",
    "google",
    "facebook",
    "openai",
)
_QUALIFIERS = _words(
    "hf chat instruct it base sft dpo deduped uncased cased en pretrained imagenet in1k in21k "
    "in22k ft lora qlora bnb 4bit 8bit gptq awq fp16 bf16 fp32 v0 v1 0 1 2 3 2407 2411 2507 "
    "224 256 384 512 fft preview model checkpoint ckpt"
)
_TUNINGS = _words("hf chat instruct it sft dpo deduped en")
_TUNED = re.compile(r"[-_](?:fine-?tuned|finetune|distilled-squad|squad)\b.{0,200}")
_SIZE = re.compile(r"(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,2})?)(b|m)(?![a-z0-9])")
_SPEAKS = re.compile(
    r"llama|alpaca|vicuna|mistral|mixtral|qwen|qwq|gemma|phi|gpt|pythia|opt|bloom|falcon|mpt|"
    r"deepseek|olmo|smollm|stablelm|yi|internlm|baichuan|chatglm|glm|starcoder|codegen|rwkv|mamba|"
    r"cerebras|redpajama|zephyr|granite|nemotron|santacoder|dolly|xgen|galactica|hyena|minicpm"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """None is unknown; `of_language` is whether it reads and writes text."""

    parameters: int | None = None
    n_layer: int | None = None
    d_model: int | None = None
    n_head: int | None = None
    vocab_size: int | None = None
    of_language: bool = False


def facts_of(name: str) -> ModelFacts | None:
    """Of `meta-llama/Llama-2-7b-hf`, `gpt2-xl`, `ResNet50`, `vit_base_patch16_224`, …

    A size that is written in a language model's name counts where nothing better is known.
    """
    spelled = _spelled(name)
    for candidate in _candidates(spelled):
        facts = _table().get(_key(candidate))
        if facts is not None:
            return None if _is_class_name(name) and facts.of_language else facts
    return _by_size(spelled)


def _spelled(name: str) -> str:
    before, _, last = name.strip()[:_MAX_NAME].rstrip("/").lower().rpartition("/")
    if last.isdecimal():  # the size of a patch: DiT-XL/2
        last = f"{before.rpartition('/')[2]}-{last}"
    ended = _ENDING.fullmatch(last)
    return _TUNED.sub("", ended[1] if ended else last)


def _candidates(name: str) -> Iterator[str]:
    """The name itself, without what says whose or which tuning it is, ever shorter."""
    for start in (name, *(name[len(p) + 1 :] for p in _PREFIXES if _starts(name, p))):
        yield start
        yield f"{start}_224"
        words = _SEPARATOR.split(start)
        yield "-".join(word for word in words if word not in _TUNINGS)
        while len(words) > 1 and (words[-1] in _QUALIFIERS or _is_told_by_size(words)):
            words.pop()
            yield "-".join(words)


def _starts(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) : len(prefix) + 1] in ("-", "_", ":")


def _is_told_by_size(words: list[str]) -> bool:
    """Whether there is one before the last word: what follows a size tells of a tuning."""
    *before, last = (bool(_SIZE.fullmatch(word)) for word in words)
    return any(before) and not last


def _is_class_name(name: str) -> bool:
    """`GPT2` is some class of that kind, `gpt2` the model of that name."""
    return name[:1].isupper() and not _SEPARATOR.search(name)


def _by_size(name: str) -> ModelFacts | None:
    sizes = {match.groups() for match in _SIZE.finditer(name)}
    if len(sizes) != 1 or not _SPEAKS.search(name):
        return None
    number, unit = sizes.pop()
    return ModelFacts(
        parameters=round(float(number) * (1e9 if unit == "b" else 1e6)), of_language=True
    )


def _key(name: str) -> str:
    """Separators say nothing, but between digits: regnet_y_1_6gf is not regnet_y_16gf."""
    return "".join(
        _SEPARATOR.sub("", part) + "." for part in _BETWEEN_DIGITS.split(name)
    ).removesuffix(".")


@cache
def _table() -> dict[str, ModelFacts]:
    return {
        _key(name): facts
        for kind in ("vision", "language")
        for names, facts in _lines(kind)
        for name in names
    }


def _lines(kind: str) -> Iterator[tuple[list[str], ModelFacts]]:
    text = (files(__package__) / f"{kind}_models.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        names, *numbers = line.split()
        known = {
            column: int(number)
            for column, number in zip(_COLUMNS, numbers, strict=False)
            if number != "-"
        }
        yield names.split(","), ModelFacts(**known, of_language=kind == "language")
