"""A device or build that cannot do what the program asks of it."""

from schedmate.handler.rules.base import Lazy, Rule, Weight

RULES = (
    Rule(
        name="no-kernel-image",
        reason="cuda_unsupported",
        pattern=Lazy(
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
        pattern=Lazy(r"CUDA capability sm_\d{1,4} is not compatible"),
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
        pattern=Lazy(
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
