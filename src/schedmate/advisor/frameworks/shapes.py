"""Widths, depths and heads: what modules, configs and networks of the job's own get."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    Place,
    agreed,
    calls_of,
    claim,
    is_of,
    last_name,
    named_claims,
    number_of,
)
from schedmate.advisor.frameworks.own_models import is_network
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Instance
from schedmate.advisor.interpret.python.values import Call, LocalClass, Table, Value
from schedmate.advisor.settle.claim import Claim

_LAYERS = {
    "TransformerEncoderLayer": (("d_model", "d_model", 0), ("n_head", "nhead", 1)),
    "TransformerDecoderLayer": (("d_model", "d_model", 0), ("n_head", "nhead", 1)),
    "TransformerEncoder": (("n_layer", "num_layers", 1),),
    "TransformerDecoder": (("n_layer", "num_layers", 1),),
    "Transformer": (
        ("d_model", "d_model", 0),
        ("n_head", "nhead", 1),
        ("n_layer", "num_encoder_layers", 2),
    ),
    "MultiheadAttention": (("d_model", "embed_dim", 0), ("n_head", "num_heads", 1)),
}
_WORDS = re.compile(r"tok|word|wte|vocab|embed|encoder|emb\b|src", re.IGNORECASE)
_NOT_WORDS = re.compile(
    r"pos|wpe|seg|type|time|label|class|user|item|patch|level|quer|latent|slot|code|prompt|state|"
    r"action|relation|entity|node|edge|speaker|task|domain|lang",
    re.IGNORECASE,
)
_SHAPE = {
    "d_model": "n_embd hidden_size d_model dim n_embed embed_dim embedding_dim hidden_dim emb_dim "
    "model_dim width hidden hidden_channels embed_size emb_size hidden_features hidden_nf",
    "n_layer": "n_layer num_hidden_layers n_layers num_layers depth layers nlayers "
    "num_encoder_layers enc_layers encoder_layers n_blocks num_blocks",
    "n_head": "n_head num_attention_heads n_heads num_heads heads nhead nheads",
    "vocab_size": "vocab_size padded_vocab_size num_tokens n_vocab vocab ntoken ntokens n_tokens",
    "sequence_length": "block_size max_seq_len max_seq_length seq_len context_length "
    "sequence_length max_length ctx ctx_len",
}
_MOST = {"sequence_length": "n_positions max_position_embeddings n_ctx"}
"""As many as the model could take."""
_CONFIG = re.compile(r"Config$|Args$|Params$|Spec$|Cfg$")
_OTHER_CONFIGS = (
    "Bits",
    "Lora",
    "Peft",
    "Training",
    "Generation",
    "Optim",
    "Data",
    "Mesh",
    "Train",
)
_WHOLE = ("d_model", "n_layer", "n_head")
_ENOUGH = 2


def torch_modules(reading: Reading) -> Iterator[Claim]:
    for name, parts in _LAYERS.items():
        calls = [call for call in _made(reading, name) if is_of(call.callee, "torch")]
        for field, argument, place in parts:
            yield from agreed(
                each
                for call in calls
                for each in claim(field, call.argument(argument, place), call, confidence=0.9)
            )
    yield from agreed(each for call in _made(reading, "Embedding") for each in _words(call))


def _made(reading: Reading, name: str) -> list[Call]:
    return [call for call in calls_of(reading, name) if call.certain]


def model_configs(reading: Reading) -> Iterator[Claim]:
    """A config with a width, a depth and heads is a transformer's, whatever its class."""
    for call in reading.trace.calls:
        if call.certain and _is_config(last_name(call.callee)):
            yield from _shape(call.keywords, call)
    for binding in reading.trace.bindings:
        data = binding.value.data if binding.certain else None
        if isinstance(data, Table) and data.of is not None and _is_config(data.of.name):
            yield from _shape(data.parts, binding)


def _is_config(name: str) -> bool:
    return bool(_CONFIG.search(name)) and not name.startswith(_OTHER_CONFIGS)


def _is_transformer(parts: Mapping[str, Value]) -> bool:
    """Whether at least two of width, depth and heads are given."""
    given = [any(name in parts for name in _SHAPE[field].split()) for field in _WHOLE]
    return sum(given) >= _ENOUGH


def _shape(parts: Mapping[str, Value], at: Place) -> Iterator[Claim]:
    if _is_transformer(parts):
        numbers = {name: value for name, value in parts.items() if (number_of(value) or 0) > 0}
        yield from named_claims(_SHAPE, numbers, at, confidence=0.9)
        for each in named_claims(_MOST, numbers, at, confidence=0.6):
            yield replace(each, reached=Reached.UNDECIDED)


def _words(call: Call) -> Iterator[Claim]:
    if not is_of(call.callee, "torch.nn") or _NOT_WORDS.search(f"{call.target} {call.within}"):
        return
    if _WORDS.search(call.target):
        yield from claim("vocab_size", call.argument("num_embeddings", 0), call, confidence=0.85)


_VOCABULARY = ("vocab_size", "n_vocab", "vocab", "ntoken", "ntokens")
_PARTS = re.compile(
    r"Layer|Block|Attention|Embed|Encoder$|Decoder$|Head|MLP|FeedForward|Discriminator|Teacher|Unit$"
)
_LARGEST = 10**7


def module_shapes(reading: Reading) -> Iterator[Claim]:
    """`DiT(depth=28, hidden_size=1152, num_heads=16)`; the outermost that gets as much."""
    made = [each for each in reading.trace.instances if _is_whole(each.of)]
    shaped = [each for each in made if tells_shape(each)]
    speaking = [each for each in made if any(name in _numbers(each) for name in _VOCABULARY)]
    for each in sorted(shaped, key=lambda one: not one.certain)[:1]:
        yield from named_claims(_SHAPE, _numbers(each), each, confidence=0.85)
        return
    for each in sorted(speaking, key=lambda one: not one.certain)[:1]:
        yield from named_claims(
            {"vocab_size": _SHAPE["vocab_size"]}, _numbers(each), each, confidence=0.8
        )


def tells_shape(instance: Instance) -> bool:
    """Whether it gets two of width, depth and heads."""
    return _is_transformer(_numbers(instance))


def _is_whole(cls: LocalClass) -> bool:
    return is_network(cls) and not _PARTS.search(cls.name)


def _numbers(instance: Instance) -> dict[str, Value]:
    return {
        name: value
        for name, value in instance.arguments.items()
        if 0 < (number_of(value) or 0) < _LARGEST
    }
