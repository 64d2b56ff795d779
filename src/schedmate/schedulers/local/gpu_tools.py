"""The tool that knows this machine's GPUs: nvidia-smi, or rocm-smi for AMD's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.schedulers.local import nvidia_smi, rocm_smi
from schedmate.schedulers.local.gpu_answer import GpuAnswer

if TYPE_CHECKING:
    from types import ModuleType

_TOOLS = (nvidia_smi, rocm_smi)


def is_installed() -> bool:
    return _tool() is not None


def ask(deadline_s: float) -> GpuAnswer:
    """What the first one that is installed answers."""
    tool = _tool()
    answer: GpuAnswer = GpuAnswer() if tool is None else tool.ask(deadline_s)
    return answer


def _tool() -> ModuleType | None:
    return next((tool for tool in _TOOLS if tool.is_installed()), None)
