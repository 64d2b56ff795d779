"""The library that drives the training loop, from what the code imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from schedmate.advisor.modules import Module
from schedmate.model import Evidence, Finding

_DRIVES: tuple[tuple[str, str], ...] = (
    ("lightning", "lightning"),
    ("pytorch_lightning", "lightning"),
    ("trl", "transformers"),
    ("transformers.Trainer", "transformers"),
    ("transformers.Seq2SeqTrainer", "transformers"),
    ("ultralytics", "ultralytics"),
    ("mmengine", "mmengine"),
    ("mmcv", "mmengine"),
    ("detectron2", "detectron2"),
    ("fairseq", "fairseq"),
    ("megatron", "megatron"),
    ("deepspeed", "deepspeed"),
    ("accelerate", "accelerate"),
    ("fastai", "fastai"),
    ("keras", "keras"),
    ("tensorflow", "tensorflow"),
    ("flax", "flax"),
    ("jax", "jax"),
    ("torch", "pytorch"),
    ("mxnet", "mxnet"),
    ("paddle", "paddle"),
    ("xgboost", "xgboost"),
    ("lightgbm", "lightgbm"),
    ("catboost", "catboost"),
    ("sklearn", "sklearn"),
)
"""Who comes first drives the ones after it."""
_RANKS = {package: rank for rank, (package, _) in enumerate(_DRIVES)}
GPU_PACKAGES = frozenset(
    package.partition(".")[0] for package, name in _DRIVES if name != "sklearn"
) | {"cupy", "numba", "cudf", "cuml", "pycuda", "triton", "transformers", "vllm", "onnxruntime"}


def framework(modules: Sequence[Module]) -> Finding[str] | None:
    """Of the nearest file that imports one at all; a file that only helps does not decide."""
    for depth in sorted({module.depth for module in modules}):
        nearest = [module for module in modules if module.depth == depth]
        found = [
            (_RANKS[name], module.evidence(node), name)
            for module in nearest
            for node, name in _imported(module)
            if name in _RANKS
        ]
        if found:
            rank, line, _ = min(found, key=lambda each: each[0])
            return _finding(rank, line)
    return None


def _finding(rank: int, line: Evidence) -> Finding[str]:
    return Finding(value=_DRIVES[rank][1], source="code", evidence=(line,), confidence=0.9)


def _imported(module: Module) -> Iterator[tuple[ast.AST, str]]:
    for node in module.nodes():
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield node, alias.name.partition(".")[0]
            case ast.ImportFrom(module=str() as package, names=names, level=0):
                top = package.partition(".")[0]
                yield node, top
                for alias in names:
                    yield node, f"{top}.{alias.name}"
            case _:
                pass
