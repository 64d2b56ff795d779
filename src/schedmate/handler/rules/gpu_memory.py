"""Memory of the accelerator, as every framework words its end."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
    Rule(
        reason="gpu_oom",
        pattern=re.compile(
            r"(?:\b(?:CUDA|HIP)(?: error:| failure '?)? ?out of memory"
            r"|cuda\.OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|hipErrorOutOfMemory"
            r"|cudaErrorMemoryAllocation|(?:CUBLAS|CUDNN)_STATUS_ALLOC_FAILED"
            r"|Cuda failure '?(?:2 )?'?out of memory)"
            r"(?!.{0,300}\b(?:retrying|retry with|skipping)\b)"
        ),
        confidence=0.97,
        positives=(
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB (GPU 0;",
            "RuntimeError: HIP out of memory. Tried to allocate 20.00 MiB",
            "RuntimeError: CUDA error: out of memory",
            "n1:10:20 [0] misc/alloc.cc:12 NCCL WARN Cuda failure 'out of memory'",
        ),
        negatives=(
            "CUDA out of memory, retrying with batch size 8",
            "you may encounter an out-of-memory (OOM) error if your GPU is small",
            "peak memory allocated: 30165 MiB reserved: 31040 MiB",
        ),
    ),
    Rule(
        reason="gpu_oom",
        pattern=re.compile(
            r"RESOURCE_EXHAUSTED: .{0,120}(?:out of memory|OOM|allocat)"
            r"|[Rr]esource ?[Ee]xhausted(?:Error)?: .{0,120}OOM",
            re.IGNORECASE,
        ),
        confidence=0.95,
        positives=(
            "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 64 bytes.",
            "ResourceExhaustedError: OOM when allocating tensor with shape[256,1024]",
        ),
        negatives=("grpc: RESOURCE_EXHAUSTED: message larger than max",),
    ),
)
