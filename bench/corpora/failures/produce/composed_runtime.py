"""What goes wrong in runtimes on GPUs: composed after public reports."""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

from bench.corpora.failures.produce.composing import Composed, main
from bench.corpora.failures.produce.surroundings import ASYNC, ELASTIC, FRAMES, watchdog

_ASSERT = "".join(
    "../aten/src/ATen/native/cuda/Indexing.cu:1284: indexSelectLargeIndex: block: [134,0,0], thread: "
    f"[{n},0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n"
    for n in range(12)
)


def _of_rank(rank: int, text: str) -> str:
    return "".join(f"[rank{rank}]: {line}\n" for line in text.strip("\n").split("\n"))


_OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.63 GiB. GPU 3 has a total capacity "
    "of 79.11 GiB of which 2.61 GiB is free. Including non-PyTorch memory, this process has 76.48 GiB "
    "memory in use. Of the allocated memory 70.16 GiB is allocated by PyTorch, and 3.48 GiB is reserved "
    "by PyTorch but unallocated.\n"
)

CASES = [
    Composed(
        name="gpu_oom_one_rank_then_watchdogs",
        reason="gpu_oom",
        after="modelscope/ms-swift#5943",
        cause=("CUDA out of memory",),
        ranks=(3,),
        noise="bars",
        text=_of_rank(3, FRAMES + _OOM)
        + "".join(watchdog(rank, "_ALLGATHER_BASE", 600020 + rank) for rank in (0, 1, 2))
        + ELASTIC,
    ),
    Composed(
        name="gpu_oom_older_wording",
        reason="gpu_oom",
        after="anhaidgroup/deepmatcher#74",
        cause=("CUDA out of memory",),
        text=FRAMES
        + "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 1.96 GiB total capacity; "
        "923.43 MiB already allocated; 15.62 MiB free; 954.00 MiB reserved in total by PyTorch)",
    ),
    Composed(
        name="gpu_oom_cublas_alloc",
        reason="gpu_oom",
        after="pytorch/pytorch: CUBLAS_STATUS_ALLOC_FAILED",
        cause=("CUBLAS_STATUS_ALLOC_FAILED",),
        text=FRAMES
        + "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ),
    Composed(
        name="gpu_oom_xla",
        reason="gpu_oom",
        after="patrickbryant1/AFProfile#8",
        cause=("RESOURCE_EXHAUSTED: Out of memory while trying to allocate",),
        text="2031-05-18 21:59:55.086788: W external/xla/xla/tsl/framework/bfc_allocator.cc:310] Allocator "
        "(GPU_0_bfc) ran out of memory trying to allocate 4.44GiB with freed_by_count=0.\n"
        + FRAMES.replace("loss.backward()", "state = update(state, batch)")
        + "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate "
        "4770354232 bytes.",
    ),
    Composed(
        name="gpu_oom_hip",
        reason="gpu_oom",
        after="ROCm/pytorch: HIP out of memory",
        cause=("HIP out of memory",),
        noise="megatron",
        text=FRAMES
        + "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total "
        "capacity of 63.98 GiB of which 302.00 MiB is free.",
    ),
    Composed(
        name="gpu_oom_in_rank_files",
        reason="gpu_oom",
        after="deepspeedai/DeepSpeed#6737",
        cause=("CUDA out of memory",),
        ranks=(1,),
        text="all ranks up, training",
        others={
            "rank_0.log": FRAMES
            + "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process "
            "exited or there was a network error, NCCL version 2.20.5\nncclRemoteError: A call failed "
            "possibly due to a network error or a remote process exiting prematurely.",
            "rank_1.log": FRAMES + _OOM.replace("GPU 3", "GPU 1"),
        },
    ),
    Composed(
        name="illegal_access_watchdog",
        reason="cuda_illegal_access",
        after="axolotl-ai-cloud/axolotl#1473",
        cause=("an illegal memory access was encountered",),
        noise="bars",
        text="[E ProcessGroupNCCL.cpp:1182] [Rank 2] NCCL watchdog thread terminated with exception: CUDA "
        "error: an illegal memory access was encountered\n"
        + ASYNC
        + "terminate called after throwing an "
        "instance of 'c10::DistBackendError'\n" + ELASTIC,
        ranks=(2,),
    ),
    Composed(
        name="illegal_access_error_700",
        reason="cuda_illegal_access",
        after="NVIDIA/nccl#1562",
        cause=("700 (an illegal memory access was encountered)",),
        text="HPL ERROR: CUDART Error: cudaMemcpyAsync( ipiv_l, ipiv + step * nb, nb * sizeof(int64_t), "
        "cudaMemcpyDeviceToDevice, fact_stream) = 700 (an illegal memory access was encountered) on n1 at "
        "(getrfs_mp.cu:750)",
    ),
    Composed(
        name="misaligned_address",
        reason="cuda_illegal_access",
        after="pytorch/pytorch: cudaErrorMisalignedAddress",
        cause=("misaligned address",),
        text=FRAMES + "RuntimeError: CUDA error: misaligned address\n" + ASYNC,
    ),
    Composed(
        name="device_assert_indexing",
        reason="cuda_assert",
        after="huggingface/trl#1995",
        cause=("Assertion `srcIndex < srcSelectDimSize` failed", "device-side assert triggered"),
        noise="bars",
        text=_ASSERT + FRAMES + "RuntimeError: CUDA error: device-side assert triggered\n" + ASYNC,
    ),
    Composed(
        name="device_assert_labels_older",
        reason="cuda_assert",
        after="bharat-b7/IPNet#4",
        cause=("Assertion `t >= 0 && t < n_classes` failed", "device-side assert triggered"),
        text="/pytorch/aten/src/ATen/native/cuda/Loss.cu:242: nll_loss_forward_reduce_cuda_kernel_2d: block: "
        "[0,0,0], thread: [4,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
        + FRAMES
        + "RuntimeError: CUDA error: device-side assert triggered",
    ),
    Composed(
        name="no_kernel_image",
        reason="cuda_unsupported",
        after="jiangyzy/GOAE#16",
        cause=(
            "no kernel image is available for execution on the device",
            "sm_86 is not compatible",
        ),
        noise="start",
        text="/home/u/envs/train/lib/python3.11/site-packages/torch/cuda/__init__.py:145: UserWarning:\n"
        "NVIDIA RTX A6000 with CUDA capability sm_86 is not compatible with the current PyTorch "
        "installation.\nThe current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_70.\n"
        + FRAMES
        + "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
        + ASYNC,
    ),
    Composed(
        name="flash_attention_needs_ampere",
        reason="cuda_unsupported",
        after="Dao-AILab/flash-attention: older GPUs",
        cause=("FlashAttention only supports Ampere GPUs or newer",),
        noise="start",
        text=FRAMES + "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
    ),
    Composed(
        name="bf16_not_supported",
        reason="cuda_unsupported",
        after="huggingface/transformers: bf16 on an older GPU",
        cause=("Your setup doesn't support bf16/gpu",),
        accept=("value_error", "argument_error"),
        noise="start",
        text=FRAMES.replace("loss.backward()", "args = TrainingArguments(**config)")
        + "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with "
        "cuda>=11.0",
    ),
    Composed(
        name="cudnn_execution_failed",
        reason="cuda_error",
        after="MIC-DKFZ/nnUNet#1739",
        cause=("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",),
        text=FRAMES + "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
    ),
    Composed(
        name="cublas_execution_failed",
        reason="cuda_error",
        after="clovaai/bros#14",
        cause=("CUBLAS_STATUS_EXECUTION_FAILED",),
        text=FRAMES
        + "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle, opa, "
        "opb, m, n, k, &falpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, &fbeta, c, CUDA_R_16F, ldc, "
        "CUDA_R_32F, CUBLAS_GEMM_DFALT_TENSOR_OP)`",
    ),
    Composed(
        name="launch_failure",
        reason="cuda_error",
        after="pytorch/pytorch: cudaErrorLaunchFailure",
        cause=("unspecified launch failure",),
        accept=("cuda_illegal_access",),
        noise="megatron",
        text=FRAMES + "RuntimeError: CUDA error: unspecified launch failure\n" + ASYNC,
    ),
    Composed(
        name="device_two_devices",
        reason="device_mismatch",
        after="huggingface/alignment-handbook#209",
        cause=("Expected all tensors to be on the same device",),
        noise="start",
        text=FRAMES
        + "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cpu "
        "and cuda:0! (when checking argument for argument index in method wrapper_CUDA__index_select)",
    ),
    Composed(
        name="device_indices",
        reason="device_mismatch",
        after="WongKinYiu/yolor#268",
        cause=("indices should be either on cpu or on the same device as the indexed tensor",),
        text=FRAMES
        + "RuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    Composed(
        name="device_input_type",
        reason="device_mismatch",
        after="pytorch/pytorch: convolution of a CPU input",
        cause=("Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor)",),
        accept=("dtype_mismatch",),
        text=FRAMES
        + "RuntimeError: Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be "
        "the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    Composed(
        name="ddp_unused_parameters",
        reason="autograd_error",
        after="Megvii-BaseDetection/YOLOX#885",
        cause=("Expected to have finished reduction in the prior iteration",),
        noise="start",
        text=_of_rank(
            0,
            FRAMES
            + "RuntimeError: Expected to have finished reduction in the prior iteration before starting a "
            "new one. This error indicates that your module has parameters that were not used in producing "
            "loss.",
        )
        + ELASTIC,
    ),
    Composed(
        name="loss_scale_at_minimum",
        reason="loss_nan",
        after="deepspeedai/DeepSpeedExamples#418",
        cause=("Current loss scale already at minimum",),
        noise="bars",
        text="".join(
            f"[2031-06-07 17:28:1{n},122] [INFO] [loss_scaler.py:181:update_scale] [deepspeed] OVERFLOW! Rank "
            f"0 Skipping step. Attempted loss scale: {2 ** (4 - n)}, reducing to {2 ** (3 - n)}\n"
            for n in range(3)
        )
        + FRAMES.replace("loss.backward()", "self.loss_scaler.update_scale(has_overflow)")
        + "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.\n"
        "[2031-06-07 17:28:24,960] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 45098",
    ),
    Composed(
        name="bus_error_older_wording",
        reason="shm_exhausted",
        after="pytorch/pytorch#5040",
        cause=("Unexpected bus error encountered in worker", "is killed by signal: Bus error"),
        text="ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared "
        "memory (shm).\n"
        + FRAMES
        + "RuntimeError: DataLoader worker (pid 1284) is killed by signal: Bus error. It is possible that "
        "dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
    ),
    Composed(
        name="ancdata",
        reason="fd_limit",
        after="pytorch/pytorch#973",
        cause=("received 0 items of ancdata",),
        text=FRAMES + "RuntimeError: received 0 items of ancdata",
    ),
    Composed(
        name="quota_home_directory",
        reason="disk_quota",
        after="NFS home with a quota",
        cause=("Disk quota exceeded",),
        noise="bars",
        text="Saving model checkpoint to out/checkpoint-500\n"
        + FRAMES.replace("loss.backward()", "torch.save(optimizer.state_dict(), path)")
        + "OSError: [Errno 122] Disk quota exceeded: 'out/checkpoint-500/optimizer.pt'",
    ),
    Composed(
        name="triton_compilation",
        reason="compile_error",
        after="triton-lang/triton: CompilationError",
        cause=("triton.compiler.errors.CompilationError",),
        noise="start",
        text=FRAMES.replace("loss.backward()", "kernel[grid](x, y, BLOCK=1024)")
        + "triton.compiler.errors.CompilationError: at 12:10:\n    acc = tl.dot(a, b)\n          ^\n"
        "AssertionError('First input shape and second input shape are not compatible for matmul')",
    ),
    Composed(
        name="glibc_not_found",
        reason="abi_mismatch",
        after="tensorflow/tensorflow: GLIBC",
        cause=("version `GLIBC_2.32' not found",),
        noise="start",
        text='Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 3, in <module>\n'
        "    import flash_attn_2_cuda\nImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not "
        "found (required by /home/u/envs/train/lib/python3.11/site-packages/flash_attn_2_cuda.so)",
    ),
    Composed(
        name="numpy_binary_incompatible",
        reason="abi_mismatch",
        after="numpy/numpy: dtype size changed",
        cause=("numpy.dtype size changed",),
        noise="start",
        text='Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 5, in <module>\n'
        '    from pycocotools.coco import COCO\n  File "pycocotools/_mask.pyx", line 1, in init '
        "pycocotools._mask\nValueError: numpy.dtype size changed, may indicate binary incompatibility. "
        "Expected 96 from C header, got 88 from PyObject",
    ),
    Composed(
        name="gated_repository",
        reason="auth_error",
        after="huggingface/transformers: gated repositories",
        cause=("Access to model", "gated repo"),
        noise="start",
        text=FRAMES.replace("loss.backward()", "AutoModel.from_pretrained(name)")
        + "OSError: You are trying to access a gated repo.\nMake sure to have access to it at "
        "https://huggingface.co/acme/base-8b.\n401 Client Error. (Request ID: Root=1-66)\nAccess to model "
        "acme/base-8b is restricted. You must have access to it and be authenticated to access it.",
    ),
]

if __name__ == "__main__":
    main(CASES)
