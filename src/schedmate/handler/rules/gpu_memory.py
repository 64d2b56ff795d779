"""Exhausted accelerator memory, in the messages of each framework.

A line that tells of the next attempt is no failure: batch-size finders, autotuners and caching
allocators run out of memory on purpose.
"""

import re

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_DEVICE = (
    r"\b(?:CUDA|HIP|ROCm|MPS backend|XPU|NPU|HPU|MLU|MUSA|MACA|DCU|GCU|SDAA|TPU|GPU|VRAM|NVIDIA)"
)
_NOT_THE_END = LazyPattern(
    r"\b(?:re-?trying|retry with|skipp(?:ing|ed)|halving|reducing|falling back|caught|recovered"
    r"|autotun\w{1,8}|trying (?:the next|again|with|a|batch|smaller)|not a failure)\b"
    r"|\bwill (?:retry|be retried|try|skip|fall)"
    r"|\b(?:may|might|could|can|would (?:run|go|be|cause|lead)|avoid\w{0,3}|prevent\w{0,3}|if you"
    r"|in case of|potential)"
    r" .{0,60}out[ -]of[ -]memory",
    re.IGNORECASE,
)

RULES = (
    Rule(
        name="tensorflow-cpu-allocator",
        reason="host_oom",
        pattern=LazyPattern(
            r"OOM when allocating tensor.{0,300}(?:device:CPU|allocator (?:mkl)?cpu)"
        ),
        confidence=0.9,
        positives=(
            (
                "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when "
                "allocating tensor with shape[512,4096] and type float on "
                "/job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu"
            ),
        ),
        negatives=("OOM when allocating tensor on /device:GPU:0 by allocator GPU_0_bfc",),
    ),
    Rule(
        # an allocator that asks for less next time; the exception, if any, comes later
        name="tensorflow-driver-allocation",
        reason="gpu_oom",
        pattern=LazyPattern(
            r"failed to alloc(?:ate)? .{1,80}(?:from|on) (?:device|host): CUDA_ERROR_OUT_OF_MEMORY"
        ),
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "2024-03-01 10:00:00.1: E tensorflow/stream_executor/cuda/cuda_driver.cc:802] "
                "failed to allocate 10.91G (11715375104 bytes) from device: "
                "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
            ),
        ),
        negatives=("CUDA_ERROR_OUT_OF_MEMORY: out of memory",),
    ),
    Rule(
        name="device-allocator",
        reason="gpu_oom",
        pattern=LazyPattern(
            _DEVICE + r"(?: (?:driver |runtime )?(?:error|failure)(?: ?\(?\d{1,3}\)?)?"
            r"(?: at [^ ]{1,120})?(?: ?:)?)?,? '?(?:OOM|out of memory)\b"
            r"|\b(?:cuda|hip|cu|cnrt|rt)(?:Mem)?[mM]?[aA]lloc\w{0,20}\b.{0,80}\bout of memory"
            r"|\b(?:CUDA|HIP) error .{0,60}\bout of memory"
            r"|\b(?:torch|cuda|memory)\.OutOfMemoryError\b"
            r"|\b(?:[A-Z]{2,6}_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory"
            r"|hipErrorMemoryAllocation|\w{1,12}_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"
            r"|\w{2}_(?:RESULT_)?ERROR_OUT_OF_RESOURCES|ErrorOutOfDeviceMemory"
            r"|CL_MEM_OBJECT_ALLOCATION_FAILURE|ACL_ERROR_RT_MEMORY_ALLOCATION)\b"
            r"|\b[A-Za-z]{4,10}_STATUS_ALLOC_FAILED\b|\bCUFFT_ALLOC_FAILED\b"
            r"|miopenStatusAllocFailed",
            re.IGNORECASE,
        ),
        unless=_NOT_THE_END,
        confidence=0.97,
        positives=(
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB (GPU 0;",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 3 has a",
            "RuntimeError: HIP out of memory. Tried to allocate 20.00 MiB",
            "RuntimeError: CUDA error: out of memory",
            "torch.AcceleratorError: CUDA error: out of memory",
            "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/x.cu:66",
            "n1:10:20 [0] misc/alloc.cc:12 NCCL WARN Cuda failure 'out of memory'",
            "n1:10:20 [0] include/alloc.h:178 NCCL WARN Cuda failure 2 'out of memory'",
            "RuntimeError: MPS backend out of memory (MPS allocated: 8.88 GB, other allocations:",
            "RuntimeError: NPU out of memory. Tried to allocate 52.00 MiB (NPU 0; 60.96 GiB total",
            "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 4.00 GiB.",
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(x)`",
            "level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
            "RuntimeError: UR backend failed. Returns:40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)",
            "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,073,741,824 bytes",
            "allocating 7000.00 MiB on device 0: cudaMalloc failed: out of memory",
            "numba.cuda.cudadrv.driver.CudaAPIError: [2] cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY",
            "CUDA error 2 at ggml-cuda.cu:7233: out of memory",
            "ERROR ../rtSafe/safeRuntime.cpp (25) - Cuda Error in allocate: 2 (out of memory)",
            "MemoryError: RMM_ERROR_OUT_OF_MEMORY",
            "mxnet.base.MXNetError: cudaMalloc retry failed: out of memory",
        ),
        negatives=(
            "CUDA out of memory, retrying with batch size 8",
            "Batch size 64 failed: CUDA out of memory. Skipping it",
            "Caught CUDA out of memory at batch size 128, halving it",
            "you may encounter an out-of-memory (OOM) error if your GPU is small",
            "This may lead to a CUDA out of memory error on smaller cards.",
            "use activation checkpointing to avoid CUDA out of memory errors",
            "peak memory allocated: 30165 MiB reserved: 31040 MiB",
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True helps against fragmentation",
        ),
    ),
    Rule(
        name="xla-resource-exhausted",
        reason="gpu_oom",
        pattern=LazyPattern(
            r"RESOURCE_EXHAUSTED: .{0,200}(?:out of memory|OOM|allocat|reserve|memory space)"
            r"|Resource ?Exhausted(?:Error)?: .{0,200}(?:OOM|out of memory|allocat|reserve)"
            r"|ResourceExhaustedError: Graph execution error"
            r"|OOM when allocating tensor|Ran out of memory in memory space"
            r"|Out of memory error on (?:GPU|XPU|NPU)|Out of GPU memory trying to"
            r"|[Dd]evice\S{0,12} memory isn't enough|Malloc for kernel \w{1,20} failed",
            re.IGNORECASE,
        ),
        unless=LazyPattern(r"message larger than|" + _NOT_THE_END.pattern, re.IGNORECASE),
        confidence=0.95,
        positives=(
            "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 64 bytes.",
            "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 812 bytes.",
            (
                "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile "
                "permanent error. Ran out of memory in memory space hbm. Used 21.9G of 7.48G hbm."
            ),
            "(1) RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory.",
            "Resource exhausted: Attempting to allocate 180.59M. That was not possible.",
            "ResourceExhaustedError: OOM when allocating tensor with shape[256,1024]",
            (
                "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph "
                "execution error:"
            ),
            "Out of memory error on GPU 0. Cannot allocate 1.5GB memory on GPU 0",
        ),
        negatives=(
            "grpc: RESOURCE_EXHAUSTED: message larger than max",
            "RESOURCE_EXHAUSTED: quota exceeded for reads per minute",
            (
                "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.2GiB. The caller "
                "indicates that this is not a failure"
            ),
        ),
    ),
    Rule(
        name="native-allocator",
        reason="gpu_oom",
        pattern=LazyPattern(
            r"bad_alloc: (?:out_of_memory: )?CUDA|\brmm::out_of_memory"
            r"|Cuda Runtime \(out of memory\)|Error Code 2: OutOfMemory"
            r"|PT_DEVMEM.{0,60}Allocation failed for size|Allocation failed for size::\d"
            r"|\[metal::malloc\]|kIOGPUCommandBufferCallbackErrorOutOfMemory"
            r"|Out of memory allocating [\d,]{1,24} bytes \(allocated so far"
            r"|HSA_STATUS_ERROR_OUT_OF_RESOURCES|NPU error code:? ?207001"
        ),
        confidence=0.9,
        positives=(
            (
                "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: "
                "/x/cuda_memory_resource.hpp"
            ),
            "RuntimeError: std::bad_alloc: CUDA error at: /x/include/rmm/cuda_memory_resource.hpp",
            (
                "[TRT] [E] 1: [defaultAllocator.cpp::allocate::20] Error Code 1: Cuda "
                "Runtime (out of memory)"
            ),
            "[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory",
            "RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::64",
            (
                "RuntimeError: [metal::malloc] Attempting to allocate 9663676416 bytes "
                "which is greater"
            ),
            "Callback: Queue aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES",
        ),
        negatives=("caught std::bad_alloc, going on with less", "Error Code 1: Cuda Runtime"),
    ),
    Rule(
        name="inference-engine",
        reason="gpu_oom",
        pattern=LazyPattern(
            r"No executable batch size found|No available memory for the cache blocks"
            r"|Free memory on device .{0,80}is less than desired GPU memory utilization"
            r"|larger than the (?:available KV cache memory|maximum number of tokens that can be"
            r" stored in KV cache)"
            r"|Make sure you have enough GPU RAM to fit"
            r"|Failed to allocate a memory region\b.{0,80}GPU"
            r"|Not enough memory\. Please try (?:to increas|increasing)"
            r"|(?:[Nn]ot enough|[Ii]nsufficient) (?:free )?(?:(?:GPU|device|VRAM|CUDA)[ -]?memory"
            r"|memory (?:on|for|in) (?:the )?(?:device|GPU|accelerator|card)\b)"
        ),
        unless=_NOT_THE_END,
        confidence=0.85,
        positives=(
            "RuntimeError: No executable batch size found, reached zero.",
            "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_ut",
            (
                "ValueError: Free memory on device (10.2/79.1 GiB) on startup is less than desired "
                "GPU memory utilization (0.9, 71.2 GiB)."
            ),
            (
                "ValueError: The model's max seq len (32768) is larger than the maximum number of "
                "tokens that can be stored in KV cache (9136). Try increasing `gpu_memory_ut"
            ),
            "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
            "ValueError: Make sure you have enough GPU RAM to fit the quantized model.",
            "ERROR: Insufficient memory on accelerator (src/GPU/gpu_extra.h:38)",
            "error: insufficient GPU memory: 3 GB free, 12 GB needed",
        ),
        negatives=(
            "Not enough GPU memory for the preferred kernel, falling back to the slow one",
            "GPU memory: 79 GB",
        ),
    ),
)
