"""Megatron: its options have the same names in every fork of it, parsed or not."""

from __future__ import annotations

import re

from schedmate.advisor.frameworks.calls import derived
from schedmate.advisor.frameworks.contract import Framework, Rule, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import options_like
from schedmate.advisor.frameworks.rules import either, model_parallel, number, switched
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.sources.words import words

_MARKS = words(
    "tensor_model_parallel_size pipeline_model_parallel_size micro_batch_size train_iters "
    "num_attention_heads global_batch_size train_samples use_distributed_optimizer "
    "make_vocab_size_divisible_by tokenizer_type seq_length sequence_parallel"
)
_ITS_OWN = ("tensor_model_parallel_size", "pipeline_model_parallel_size")
_PROGRAM = re.compile(r"(?:pretrain|train|finetune)_([a-z]{1,10}\d?)(?:_\w{1,30})?(?:\.py)?$")
_MODELS = {
    "gpt": "GPT",
    "bert": "BERT",
    "t5": "T5",
    "llama": "LLaMA",
    "mamba": "Mamba",
    "retro": "RETRO",
    "vit": "ViT",
    "ict": "ICT",
}
_LARGEST_VOCABULARY = 256_000
_NEGLIGIBLE = 0.03


def _framework(settings: Settings) -> Value | None:
    """Where its code is elsewhere, the options alone tell whose they are."""
    run = settings.reading.run
    found = [value for name in _ITS_OWN if (value := settings.get(name)) is not None]
    lines = [line for value in found for line in value.lines]
    if run.entry.source is not None or not lines:
        return None
    return Value("megatron", tuple(dict.fromkeys((*lines[:2], *run.command.evidence))))


def _model(settings: Settings) -> Value | None:
    run = settings.reading.run
    found = _PROGRAM.search(run.entry.name)
    name = _MODELS.get(found[1]) if found is not None else None
    return None if name is None else Value(name, run.command.evidence, "derived")


def _parameters(settings: Settings) -> Value | None:
    """Attention, of which keys and values may be fewer, and two or three matrices behind it."""
    model = _model(settings)
    shape = [settings.first(n) for n in ("num_layers", "hidden_size", "num_attention_heads")]
    layers, width, heads = (number(each) for each in shape)
    if model is None or model.data not in ("GPT", "LLaMA") or not layers or not width or not heads:
        return None
    if number(settings.first("num_experts")):
        return None
    inner = number(settings.first("ffn_hidden_size")) or 4 * width
    groups = number(settings.first("num_query_groups")) or heads
    gates = 3 if settings.is_on("swiglu") else 2
    count = layers * (width**2 * (2 + 2 * groups / heads) + gates * width * inner)
    vocabulary = number(settings.first("padded_vocab_size vocab_size"))
    if not vocabulary and _LARGEST_VOCABULARY * width > _NEGLIGIBLE * count:
        return None
    return derived(int(count + vocabulary * width), *(each for each in shape if each is not None))


def _steps_of_samples(settings: Settings) -> Value | None:
    """A length given in samples is so many global batches."""
    samples, batch = settings.first("train_samples"), settings.first("global_batch_size")
    if samples is None or batch is None or not number(batch) or not number(samples):
        return None
    return derived(int(number(samples) // number(batch)), samples, batch)


def _resumes(settings: Settings) -> Value | None:
    """It loads from where it saves whenever there is something."""
    save, load = settings.first("save"), settings.first("load")
    same = save is not None and load is not None and save.data == load.data
    return restated(load, True) if load is not None and same else None


def _on(name: str, data: str) -> Rule:
    """A switch, or a format that is named."""

    def rule(settings: Settings) -> Value | None:
        value = settings.first(name)
        return None if value is None or value.data is False else restated(value, data)

    return rule


FRAMEWORK = Framework(
    settings={
        "framework": _framework,
        "model": _model,
        "model_parameters": _parameters,
        "n_layer": "num_layers",
        "d_model": "hidden_size",
        "n_head": "num_attention_heads",
        "vocab_size": "vocab_size padded_vocab_size pad_vocab_size_to",
        "sequence_length": "seq_length",
        "batch_size": "micro_batch_size",
        "max_steps": either("train_iters", _steps_of_samples),
        "learning_rate": "lr",
        "optimizer": "optimizer",
        "checkpoint_dir": "save",
        "checkpoint_every": "save_interval",
        "precision": either(
            _on("fp8_format fp8", "fp8"), switched({"bf16": "bf16", "fp16": "fp16"})
        ),
        "parallelism": either(
            model_parallel(*_ITS_OWN), switched({"use_distributed_optimizer": "zero1"})
        ),
        "resumes": _resumes,
    },
    confidence={"framework": 0.8, "model": 0.8, "model_parameters": 0.6},
    options=options_like(_MARKS, enough=3),
    samples=(
        Sample(
            command="torchrun pretrain_gpt.py --num-layers 24 --hidden-size 1024 "
            "--num-attention-heads 16 --seq-length 2048 --micro-batch-size 4 "
            "--global-batch-size 512 --train-samples 1024000 --bf16 "
            "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --save ckpt "
            "--load ckpt --vocab-size 50304",
            claims={
                "framework": "megatron",
                "model": "GPT",
                "model_parameters": 353_501_184,
                "n_layer": 24,
                "d_model": 1024,
                "n_head": 16,
                "vocab_size": 50304,
                "sequence_length": 2048,
                "batch_size": 4,
                "max_steps": 2000,
                "precision": "bf16",
                "parallelism": "3d",
                "checkpoint_dir": "ckpt",
                "resumes": True,
            },
        ),
        Sample(
            command="python train.py --save x --lr 0.1 --num_layers 2",
            files={"train.py": "import megatron\n"},
            claims={},
        ),
    ),
)
