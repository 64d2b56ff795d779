"""Ways to find out why a job failed: SchedMate, and what people do without it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bench.corpora.failure_cases import HEALTHY
from schedmate.handler import Case, Handler
from schedmate.model import Diagnosis

Method = Callable[[Case, str], "Answer"]
"""A method is given the case and the text of its logs, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    reasons: frozenset[str]
    """One reason; several where another tool's class fits several of ours."""
    retry: str | None = None
    lines: tuple[str, ...] | None = None
    """The evidence, or None where a method shows none."""
    confidence: float = 0.0
    source: str = "-"
    ranks: tuple[int, ...] = ()

    @property
    def named(self) -> str:
        return "/".join(sorted(self.reasons))


def schedmate(handler: Handler, *, ask: bool) -> Method:
    def answer(case: Case, _text: str) -> Answer:
        diagnosis = handler.diagnose(case)
        return of_diagnosis(handler.refine(case, diagnosis) if ask else diagnosis)

    return answer


def of_diagnosis(diagnosis: Diagnosis) -> Answer:
    return Answer(
        reasons=frozenset({diagnosis.reason}),
        retry=diagnosis.decision.retry,
        lines=tuple(evidence.text for evidence in diagnosis.evidence),
        confidence=diagnosis.confidence,
        source=diagnosis.source,
        ranks=diagnosis.blame.ranks,
    )


_NAMED = {
    "ModuleNotFoundError": "import_error",
    "ImportError": "import_error",
    "SyntaxError": "syntax_error",
    "IndentationError": "syntax_error",
    "NameError": "name_error",
    "UnboundLocalError": "name_error",
    "AttributeError": "attribute_error",
    "TypeError": "type_error",
    "ValueError": "value_error",
    "KeyError": "key_error",
    "IndexError": "index_error",
    "ZeroDivisionError": "zero_division",
    "AssertionError": "assertion_error",
    "FileNotFoundError": "file_not_found",
    "PermissionError": "permission_denied",
    "MemoryError": "host_oom",
    "OutOfMemoryError": "gpu_oom",
    "KeyboardInterrupt": "cancelled",
    "JSONDecodeError": "data_error",
    "UnicodeDecodeError": "data_error",
    "ConnectionError": "service_unreachable",
    "ConnectionRefusedError": "service_unreachable",
    "TimeoutError": "service_unreachable",
    "HTTPError": "service_unreachable",
    "DistBackendError": "nccl_remote",
    "DistStoreError": "rendezvous",
    "DistNetworkError": "rendezvous",
}
_EXCEPTION = re.compile(r"^(?:[\w.]{1,100}\.)?([A-Z]\w{2,60})(?::|$)")


def last_traceback_line(case: Case, text: str) -> Answer:
    """The type of the exception that the log shows last."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if not starts:
        return _without_evidence(case)
    for line in lines[starts[-1] + 1 :]:
        found = _EXCEPTION.match(line)
        if found:
            reason = _NAMED.get(found[1], "python_exception")
            return Answer(reasons=frozenset({reason}), lines=(line,))
    return _without_evidence(case)


GREPPED = (
    ("gpu_oom", "CUDA out of memory|OutOfMemoryError"),
    ("host_oom", "oom-kill|Out Of Memory|MemoryError|Killed$"),
    ("disk_full", "No space left on device"),
    ("disk_quota", "quota exceeded"),
    ("time_limit", "DUE TO TIME LIMIT"),
    ("preempted", "PREEMPT"),
    ("cancelled", "CANCELLED AT|KeyboardInterrupt"),
    ("node_failure", "NODE FAILURE|NODE_FAIL"),
    ("gpu_ecc", "ECC error"),
    ("gpu_lost", "fallen off the bus"),
    ("nvlink", "NVLink|NVSwitch"),
    ("nccl_timeout", "Watchdog caught collective operation timeout"),
    ("nccl_remote", "NCCL error"),
    ("cuda_assert", "device-side assert"),
    ("cuda_illegal_access", "illegal memory access"),
    ("cuda_error", "CUDA error"),
    ("port_conflict", "Address already in use"),
    ("fd_limit", "Too many open files"),
    ("shm_exhausted", "Bus error|shared memory"),
    ("segfault", "Segmentation fault|core dumped"),
    ("checkpoint_mismatch", "Error\\(s\\) in loading state_dict"),
    ("loss_nan", "loss.{0,20}nan"),
    ("shape_mismatch", "shapes cannot be multiplied|must match the size"),
    ("import_error", "ModuleNotFoundError|ImportError"),
    ("file_not_found", "No such file or directory"),
    ("permission_denied", "Permission denied"),
    ("auth_error", "401|403"),
    ("service_unreachable", "Connection refused|Max retries exceeded"),
    ("command_not_found", "command not found"),
    ("storage_io", "Input/output error|Stale file handle"),
)
_GREPS = tuple((reason, re.compile(words, re.IGNORECASE)) for reason, words in GREPPED)


def grepped(case: Case, text: str) -> Answer:
    """The first word of a list that is in the log, then the exception's own name."""
    for reason, words in _GREPS:
        found = words.search(text)
        if found:
            start = text.rfind("\n", 0, found.start()) + 1
            return Answer(reasons=frozenset({reason}), lines=(text[start:].split("\n", 1)[0],))
    return last_traceback_line(case, text)


_GPUALERT = {
    "GPU out-of-memory (CUDA OOM)": "gpu_oom",
    "NCCL communication error": "nccl_timeout nccl_remote network rendezvous",
    "CUDA runtime error": (
        "cuda_error cuda_assert cuda_illegal_access cuda_unsupported gpu_ecc gpu_lost "
        "gpu_hardware nvlink driver_mismatch"
    ),
    "System out-of-memory (RAM)": "host_oom",
    "Segmentation fault": "segfault",
    "File not found": "file_not_found",
    "Permission denied": "permission_denied",
    "Missing Python module": "import_error abi_mismatch",
    "Division by zero": "zero_division",
    "Tensor device mismatch": "device_mismatch",
    "NaN detected in loss": "loss_nan",
    "Process killed by OS (OOM)": "host_oom killed",
    "Assertion failed": "assertion_error",
    "Python RuntimeError": (
        "python_exception shape_mismatch device_mismatch dtype_mismatch autograd_error "
        "checkpoint_mismatch checkpoint_corrupt"
    ),
    "Python exception (traceback)": (
        "python_exception key_error index_error type_error value_error attribute_error "
        "name_error syntax_error"
    ),
}


def gpualert(case: Case, text: str) -> Answer:
    """GPUAlert's ordered regexes; its class counts for every reason of ours that it may mean."""
    from gpualert.parse_errors import parse_errors  # noqa: PLC0415 - optional, a baseline's

    label = parse_errors("", text, case.exit_code or 0).partition("\n")[0]
    if label in _GPUALERT:
        return Answer(reasons=frozenset(_GPUALERT[label].split()))
    return Answer(reasons=frozenset({"unknown" if label else HEALTHY}))


def _without_evidence(case: Case) -> Answer:
    return Answer(reasons=frozenset({"unknown" if case.failing else HEALTHY}), lines=())
