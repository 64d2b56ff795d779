"""Width, depth and heads of a network of the job's own, as its class gets them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import named_claims, number_of
from schedmate.advisor.frameworks.own_models import is_network
from schedmate.advisor.interpret.python.trace import Instance
from schedmate.advisor.interpret.python.values import LocalClass, Value
from schedmate.advisor.settle.claim import Claim

_SHAPE = {
    "d_model": "n_embd hidden_size d_model dim n_embed embed_dim embedding_dim hidden_dim emb_dim "
    "model_dim width hidden hidden_channels embed_size emb_size hidden_features",
    "n_layer": "n_layer num_hidden_layers n_layers num_layers depth layers nlayers "
    "num_encoder_layers enc_layers encoder_layers n_blocks num_blocks",
    "n_head": "n_head num_attention_heads n_heads num_heads heads nhead nheads",
    "vocab_size": "vocab_size padded_vocab_size num_tokens n_vocab vocab ntoken ntokens n_tokens",
    "sequence_length": "block_size max_seq_len max_seq_length seq_len context_length "
    "sequence_length ctx ctx_len",
}
_VOCABULARY = ("vocab_size", "n_vocab", "vocab", "ntoken", "ntokens")
_WHOLE = ("d_model", "n_layer", "n_head")
_ENOUGH = 2
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


def _is_whole(cls: LocalClass) -> bool:
    return is_network(cls) and not _PARTS.search(cls.name)


def tells_shape(instance: Instance) -> bool:
    """Whether it gets two of width, depth and heads."""
    numbers = _numbers(instance)
    given = [any(name in numbers for name in _SHAPE[field].split()) for field in _WHOLE]
    return sum(given) >= _ENOUGH


def _numbers(instance: Instance) -> dict[str, Value]:
    return {
        name: value
        for name, value in instance.arguments.items()
        if 0 < (number_of(value) or 0) < _LARGEST and not _is_of_patches(name, value)
    }


def _is_of_patches(name: str, value: Value) -> bool:
    """A number of tokens that is computed says into how many a picture is cut."""
    return name in ("num_tokens", "n_tokens") and len(value.lines) > 1
