"""Members of libraries with a known value on every machine, as rank 0 sees them."""

from __future__ import annotations

from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.sources.words import words

_TRUE = words(
    "is_main_process is_local_main_process is_global_zero is_world_process_zero is_rank_zero "
    "is_master is_local_process_zero"
)
_ZERO = words("process_index local_process_index global_rank local_rank node_rank")
TRUE_CALLS = _TRUE | {
    "torch.cuda.is_available",
    "torch.distributed.is_available",
    "torch.cuda.is_bf16_supported",
    "transformers.utils.is_torch_available",
    "is_main_process",
}
ZERO_CALLS = words("get_rank get_local_rank rank local_rank process_index")


def known_member(name: str, owner: str) -> Value | None:
    """An attribute of something that is not the job's own."""
    if owner and not owner[:1].isalpha():
        return None
    if name in _TRUE and not owner:
        return Value(True)
    return Value(0) if name in _ZERO and not owner else None
