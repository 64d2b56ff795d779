"""Errors of kernels and libraries in CUDA, ROCm and similar runtimes.

The runtimes' catch-all comes last, after everything that says it better.
"""

import re

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_CUDA_SUPPORT = (
    Rule(
        name="no-kernel-image",
        reason="cuda_unsupported",
        pattern=LazyPattern(
            r"no kernel image is available|CUDA_ERROR_NO_BINARY_FOR_GPU|cudaErrorNoKernelImage"
            r"|hipErrorNoBinaryForGpu|device kernel image is invalid|cudaErrorInvalidKernelImage"
            r"|(?:CUDA|HIP) [Ee]rror:? .{0,10}invalid device function|hipErrorInvalidDeviceFunction"
            r"|cudaErrorInvalidDeviceFunction|CUDNN_STATUS_ARCH_MISMATCH"
            r"|CUBLAS_STATUS_ARCH_MISMATCH"
            r"|TensileLibrary.{0,80}(?:Illegal seek|No such file)|for GPU arch ?: gfx"
            r"|(?:nvcc|ptxas) fatal +: .{0,20}(?:Unsupported gpu architecture"
            r"|Value 'sm_\w{2,6}' is)"
            r"|nvrtc: error: invalid value for --gpu-architecture"
            r"|too old to be supported by the triton|GPUTooOldForTriton"
        ),
        confidence=0.94,
        positives=(
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "torch.AcceleratorError: CUDA error: no kernel image is available for execution on the",
            "RuntimeError: HIP error: invalid device function",
            (
                "rocBLAS error: Cannot read /opt/rocm/TensileLibrary.dat: Illegal seek "
                "for GPU arch : gfx1031"
            ),
            "nvcc fatal   : Unsupported gpu architecture 'compute_90'",
            "ptxas fatal   : Value 'sm_90a' is not defined for option 'gpu-name'",
            "nvrtc: error: invalid value for --gpu-architecture (-arch)",
            "RuntimeError: cuDNN error: CUDNN_STATUS_ARCH_MISMATCH",
            "CUDA error: device kernel image is invalid",
            (
                "RuntimeError: Found Tesla P100 which is too old to be supported by the "
                "triton GPU compiler"
            ),
        ),
        negatives=("CUDA capability sm_90 found", "nvcc: NVIDIA (R) Cuda compiler driver"),
    ),
    Rule(
        # a warning at the start; only what runs on that device fails
        name="compute-capability",
        reason="cuda_unsupported",
        pattern=LazyPattern(r"CUDA capability sm_\d{1,4} is not compatible"),
        confidence=0.75,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible "
                "with the current"
            ),
        ),
        negatives=("CUDA capability sm_90 found",),
    ),
    Rule(
        name="hardware-feature",
        reason="cuda_unsupported",
        pattern=LazyPattern(
            r"FlashAttention(?:-?\d)? only supports \w{1,12} GPUs"
            r"|(?:requires?|only supported on|need|at least|minimum).{0,80}(?:compute"
            r"|device) capability"
            r"|\b(?:arch(?:itecture)? )?(?:sm|compute|gfx)_?\d{2,4}[a-z]? (?:is|are) not supported"
            r"|[Cc]ompute capability .{0,40}(?:required|or higher|not supported|at least)"
            r"|setup doesn't support bf16|bf16 is not supported on this"
            r"|[Bb]float16 is only supported"
            r"|[Tt]orch not compiled with \w{3,6} enabled|not compiled with (?:GPU|CUDA"
            r"|ROCm) support"
            r"|is not currently implemented for the (?:MPS|XPU|HPU|NPU) device"
            r"|No operator found for `memory_efficient_attention"
            r"|generated on an incompatible device|GPU architecture .{0,40}not supported"
            r"|compatible \S{1,60} extension for compute capability"
            r"|Unsupported (?:GPU|gpu|CUDA) (?:architecture|arch|compute capability|device)"
        ),
        errors_only=True,
        confidence=0.82,
        positives=(
            "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
            (
                "ValueError: Bfloat16 is only supported on GPUs with compute capability "
                "of at least 8.0."
            ),
            (
                "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, "
                "using Ampere GPU"
            ),
            "AssertionError: Torch not compiled with CUDA enabled",
            "RuntimeError: cutlass: arch sm_75 is not supported for this kernel",
            (
                "RuntimeError: torch._scaled_mm is only supported on CUDA devices with "
                "compute capability"
            ),
            "AssertionError: Device compute capability 8.9 or higher required for FP8 execution.",
            (
                "NotImplementedError: The operator 'aten::unfold' is not currently implemented "
                "for the MPS device."
            ),
            "NotImplementedError: No operator found for `memory_efficient_attention_forward` with",
        ),
        negatives=(
            "RuntimeError: the compute node is too small",
            "ValueError: capability not supported",
        ),
    ),
)


_EXPLAINED = LazyPattern(
    r"might be asynchronously|could be incorrect|failed call to cuInit"
    r"|\b(?:retrying|skipping|falling back|ignor(?:ed|ing))\b"
    r"|Attempting to register factory|CUDA errors?: (?:0|none|false|true)\b",
    re.IGNORECASE,
)
_LIBRARY = (
    r"\b(?:cublas|cudnn|cusolver|cusparse|cufft|curand|cutlass|nvrtc|rocblas|rocsolver|hipblas"
    r"|miopen|rccl|cuda(?:Stream|Memcpy|Malloc|Get|Set|Launch|Event)|hip(?:Stream|Memcpy|Malloc))"
    r"\w{0,40}\b"
)

_CUDA = (
    Rule(
        name="device-side-assert",
        reason="cuda_assert",
        pattern=LazyPattern(
            r"device-side assert triggered|\b(?:CUDA_ERROR_ASSERT|cudaErrorAssert|hipErrorAssert)\b"
            r"|block: ?\[[\d, ]{1,40}\],? thread: ?\[[\d, ]{1,40}\].{0,9} Assertion .{1,200} failed"
            r"|\.(?:cuh?|hip):\d{1,6}: .{0,200}Assertion .{1,300} failed"
            r"|[Dd]evice-side assertion .{1,200} failed|\bdevice assertion failed: "
        ),
        fatal=True,
        confidence=0.96,
        positives=(
            "RuntimeError: CUDA error: device-side assert triggered",
            "torch.AcceleratorError: CUDA error: device-side assert triggered",
            (
                "RuntimeError: cuda runtime error (710) : device-side assert triggered "
                "at /pytorch/x.cu"
            ),
            (
                "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss: block: [0,0,0], thread: "
                "[1,0,0] Assertion `t >= 0 && t < n_classes` failed."
            ),
            (
                "/pytorch/aten/src/ATen/native/cuda/ScatterGatherKernel.cu:144: operator(): block: "
                '[5,0,0], thread: [64,0,0] Assertion `idx >= 0 && "index out of bounds"` failed.'
            ),
            (
                "/scratch/torchinductor_u/ab/cab.py:39: unknown: block: [3,0,0], thread: [32,0,0] "
                "Assertion `index out of bounds: 0 <= tmp5 < 10` failed."
            ),
            (
                "C:/w/b/windows/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1290: block: [93,0,0]"
                ", thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed."
            ),
            ":0:rocdevice.cpp:2660: Device-side assertion `t >= 0 && t < n_classes' failed.",
        ),
        negatives=(
            "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
            "python: malloc.c:2401: sysmalloc: Assertion `old_top' failed.",
        ),
    ),
    Rule(
        name="memory-access",
        reason="cuda_illegal_access",
        pattern=LazyPattern(
            r"an illegal memory access|illegal memory access was"
            r"|\b(?:CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress|hipErrorIllegalAddress"
            r"|CUDA_ERROR_MISALIGNED_ADDRESS|cudaErrorMisalignedAddress)\b"
            r"|(?:CUDA|HIP) [Ee]rror:? ?.{0,20}misaligned address"
            r"|[Mm]emory access fault by GPU|HSA_STATUS_ERROR_MEMORY_(?:APERTURE_VIOLATION|FAULT)"
            r"|Warp (?:Illegal|Misaligned|Out-of-range) Address"
            r"|Invalid __(?:global|shared|local)__ (?:read|write|atomic)"
        ),
        unless=LazyPattern(r"\b(?:may|might|could|can|avoid|fix(?:es|ed)?) .{0,60}illegal memory"),
        confidence=0.94,
        positives=(
            "RuntimeError: CUDA error: an illegal memory access was encountered",
            "torch.AcceleratorError: HIP error: an illegal memory access was encountered",
            "RuntimeError: CUDA error: misaligned address",
            (
                "[E ProcessGroupNCCL.cpp:1414] [PG 0 Rank 3] Process group watchdog thread "
                "terminated with exception: CUDA error: an illegal memory access was encountered"
            ),
            (
                "Memory access fault by GPU node-2 (Agent handle: 0x55fea5592860) on address "
                "0x7fc133800000. Reason: Page not present or supervisor privilege."
            ),
            "cupy_backends.cuda.api.driver.CUDADriverError: CUDA_ERROR_ILLEGAL_ADDRESS",
            "CUDA Exception: Warp Illegal Address",
        ),
        negatives=("illegal memory accesses: 0", "this flag may cause an illegal memory access"),
    ),
    Rule(
        name="no-such-device",
        reason="argument_error",
        pattern=LazyPattern(
            r"\b(?:CUDA|Cuda|HIP) (?:runtime )?(?:[Ee]rror|failure).{0,40}invalid device ordinal"
            r"|(?:CUDA_ERROR_INVALID_DEVICE|cudaErrorInvalidDevice|hipErrorInvalidDevice)\b"
        ),
        confidence=0.8,
        suggestion=(
            "It asked for a GPU beyond those that it sees: start as many processes on a node as "
            "it has GPUs of the job, or ask for more GPUs."
        ),
        positives=(
            "RuntimeError: CUDA error: invalid device ordinal",
            "n7:1:2 [3] init.cc:1 NCCL WARN Cuda failure 101 'invalid device ordinal'",
            "cupy.cuda.runtime.CUDARuntimeError: cudaErrorInvalidDevice: invalid device ordinal",
        ),
        negatives=("CUDA error: invalid device function", "cudaErrorInvalidDeviceFunction"),
    ),
    Rule(
        # the call itself is wrong: no other run of it ends differently
        name="wrong-call",
        reason="cuda_error",
        pattern=LazyPattern(
            r"\b(?:CUDA|Cuda|HIP|ROCm|Triton) (?:driver |runtime |Runtime )?(?:[Ee]rror|ERROR)"
            r"[^a-z]{0,12}(?:\[CUDA\]: )?(?:invalid (?:argument|configuration argument"
            r"|resource handle|value|pitch|texture|device context)"
            r"|operation not (?:supported|permitted)"
            r"|peer access is not supported|too many resources requested"
            r"|invalid (?:kernel|ptx)|a PTX JIT compilation failed|named symbol not found"
            r"|the provided PTX was compiled|feature is not)"
            r"|failed: invalid configuration argument|too many resources requested for launch"
            r"|\b(?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CUFFT|HIPBLAS|MIOPEN)_(?:STATUS_)?"
            r"(?:INVALID_(?:VALUE|SIZE|TYPE)|NOT_SUPPORTED|BAD_PARAM|INVALID_PLAN)"
            r"|\bcu(?:BLAS|DNN|SPARSE|SOLVER|FFT)(?:Lt)? [Ee]rror:? .{0,20}not supported"
            r"|\b(?:cudaError|hipError)(?:InvalidValue|InvalidConfiguration|InvalidResourceHandle"
            r"|NotSupported|NotPermitted|LaunchOutOfResources|PeerAccessUnsupported)\b"
            r"|\bCUDA_ERROR_(?:INVALID_(?:VALUE|HANDLE|CONTEXT|PTX)|NOT_SUPPORTED|NOT_PERMITTED"
            r"|LAUNCH_OUT_OF_RESOURCES|PEER_ACCESS_UNSUPPORTED)\b"
        ),
        # a handle of another process may be stale by chance
        unless=LazyPattern(rf"{_EXPLAINED.pattern}|(?:cu|cuda|hip)Ipc", re.IGNORECASE),
        confidence=0.8,
        recurs=True,
        positives=(
            "RuntimeError: CUDA error: invalid argument",
            "RuntimeError: Triton Error [CUDA]: invalid argument",
            "RuntimeError: CUDA error: too many resources requested for launch",
            "RuntimeError: cuDNN error: CUDNN_STATUS_BAD_PARAM",
            "RuntimeError: CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasGemmEx`",
            "OSError: (External)  Cuda error(9), invalid configuration argument.",
            "std::exception caught, parallel_for failed: invalid configuration argument",
            "cuda_main.cu:88 CUDA Runtime Error: invalid configuration argument",
            "RuntimeError: HIP error: operation not supported",
            "RuntimeError: cublaslt_gemm.cu:282 in cublas_gemm: cuBLAS Error: not supported",
        ),
        negatives=(
            "CUDNN_STATUS_NOT_SUPPORTED for this plan, skipping",
            "RuntimeError: CUDA error: unspecified launch failure",
            "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        ),
    ),
    Rule(
        name="cuda-runtime",
        reason="cuda_error",
        pattern=LazyPattern(
            r"\b(?:CUDA|Cuda|HIP|ROCm) (?:driver |runtime |Runtime )?(?:[Ee]rror|ERROR)(?::? "
            r"| ?\(\d)"
            r"|CUDA-capable device\(s\) is/are busy"
            r"|\bcu(?:DNN|BLAS|SPARSE|SOLVER|FFT|RAND)(?: Frontend)? error: "
            r"|\b(?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CURAND|HIPBLAS|ROCBLAS|MIOPEN)_STATUS_"
            r"(?:[A-RT-Z]|SUB|STREAM)[A-Z_]{3,40}|Check failed: .{0,60}(?:CUDNN|CUBLAS|cuda"
            r"|CUDA|hip[SE])"
            r"|\b(?:CUDA|CUDNN|CUBLAS|CUSOLVER|CUSPARSE|CURAND|HIP|MIOPEN"
            r"|ROCBLAS)(?:_FE)? failure \d"
            r"|\bmiopenStatus[A-Z]\w{2,30}|\brocblas_status_\w{3,30}"
            r"|\bCUDA_ERROR_[A-Z_]{3,60}\b|\bcudaError[A-Z]\w{2,60}\b|\bhipError[A-Z]\w{2,60}\b"
            r"|\bHSA_STATUS_ERROR\w{0,60}\b|\b(?:UR|PI)_(?:RESULT_)?ERROR_[A-Z_]{3,40}\b"
            r"|NCCL WARN (?:Cuda|CUDA|HIP) failure|^CUDA unknown error|CUDA unknown error - "
            r"|failed to launch on the (?:GPU|device)\b"
            r"|unspecified launch failure|(?:was )?unable to find an engine to execute this"
            r"|CUDA driver initialization failed"
        ),
        unless=_EXPLAINED,
        confidence=0.8,
        positives=(
            "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate`",
            "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`",
            "RuntimeError: CUDA error: unspecified launch failure",
            "RuntimeError: CUDA error: the launch timed out and was terminated",
            "RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.",
            "RuntimeError: GET was unable to find an engine to execute this computation",
            "RuntimeError: miopenStatusUnknownError",
            (
                "[E:onnxruntime:Default, CudaCall] CUDNN_FE failure 11: "
                "CUDNN_BACKEND_API_FAILED ; GPU=0"
            ),
            "  what():  CUDA error: unspecified launch failure",
            "E1201 cuda_dnn.cc:502] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR",
            "RuntimeError: Native API failed. Native API returns: 20 (UR_RESULT_ERROR_UNKNOWN)",
            (
                "F cuda_dnn.cc:211] Check failed: status == CUDNN_STATUS_SUCCESS (7 vs. "
                "0)Failed to set"
            ),
        ),
        negatives=(
            "RuntimeError: CUBLAS_STATUS_SUCCESS",
            "CUDA kernel errors might be asynchronously reported at some other API call",
            "E cuda_driver.cc:328] failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error",
            "CUDNN_STATUS_NOT_SUPPORTED for this plan, skipping",
            "Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN",
        ),
    ),
    Rule(
        # any library of the runtime with messages of its own
        name="cuda-library",
        reason="cuda_error",
        pattern=LazyPattern(
            _LIBRARY + r".{0,80}\b(?:errors?|failed|failure|not (?:been )?initiali[sz]ed)\b"
            r"|\b(?:error|failed|failure)\b.{0,80}" + _LIBRARY + r"|\bDNN library init",
            re.IGNORECASE,
        ),
        unless=_EXPLAINED,
        errors_only=True,
        confidence=0.75,
        positives=(
            "Exception: cublasLt ran into an error!",
            "RuntimeError: cuSolver has not been initialized",
            "RuntimeError: cusolver_kernels.cc:45: operation cusolverDnCreate(&handle) failed",
            "XlaRuntimeError: UNKNOWN: Failed to determine best cudnn convolution algorithm for:",
            "jax.errors.JaxRuntimeError: FAILED_PRECONDITION: DNN library initialization failed.",
        ),
        negatives=(
            "ImportError: libcudnn.so.8: cannot open shared object file: No such file or directory",
            "ValueError: cudnn must be True or False",
        ),
    ),
    Rule(
        # names the exception one line before its message
        name="native-exception",
        reason="cuda_error",
        pattern=LazyPattern(r"instance of 'c10::(?:CUDAError|AcceleratorError)'"),
        confidence=0.6,
        weight=Weight.SYMPTOM,
        positives=("terminate called after throwing an instance of 'c10::CUDAError'",),
        negatives=("terminate called after throwing an instance of 'c10::Error'",),
    ),
)

RULES = (*_CUDA_SUPPORT, *_CUDA)
