"""Sick GPUs, links and collectives: composed after public reports."""

# ruff: noqa: E501 - the lines of logs are as long as they are
from __future__ import annotations

from bench.corpora.failures.produce.composing import Composed, main
from bench.corpora.failures.produce.surroundings import ASYNC, ELASTIC, FRAMES, STOPPED, watchdog

CASES = [
    Composed(
        name="gpu_ecc_uncorrectable_in_backward",
        reason="gpu_ecc",
        after="tloen/alpaca-lora#123",
        cause=("CUDA error: uncorrectable ECC error encountered",),
        text=FRAMES + "RuntimeError: CUDA error: uncorrectable ECC error encountered\n" + ASYNC,
    ),
    Composed(
        name="gpu_ecc_then_watchdogs",
        reason="gpu_ecc",
        after="kohya-ss/sd-scripts#1434",
        cause=("uncorrectable ECC error encountered",),
        ranks=(1,),
        noise="bars",
        text=FRAMES.replace("Traceback", "[rank1]: Traceback").replace("\n  ", "\n[rank1]:   ")
        + "[rank1]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
        + watchdog(0, "ALLREDUCE", 600060)
        + watchdog(2, "ALLREDUCE", 600067)
        + ELASTIC,
    ),
    Composed(
        name="gpu_ecc_kernel_xid_94",
        reason="gpu_ecc",
        after="leptonai/gpud#1174",
        cause=("Xid (PCI:0000:9b:00): 94",),
        noise="megatron",
        text="[1881234.511902] NVRM: Xid (PCI:0000:9b:00): 94, pid=1234, name=python3, Contained ECC "
        "error\n" + FRAMES + "RuntimeError: CUDA error: unspecified launch failure\n" + ASYNC,
    ),
    Composed(
        name="gpu_ecc_tensorflow",
        reason="gpu_ecc",
        after="nagadit/DeepFaceLab_Linux#89",
        cause=("CUDA_ERROR_ECC_UNCORRECTABLE",),
        exit_code="134:0",
        noise="start",
        text="2031-03-01 10:11:12.135 F tensorflow/stream_executor/lib/statusor.cc:34] Attempting to "
        "fetch value instead of handling error Internal: failed initializing StreamExecutor for CUDA "
        "device ordinal 0: Internal: failed call to cuDevicePrimaryCtxRetain: "
        "CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered\nAborted (core dumped)",
    ),
    Composed(
        name="gpu_lost_off_the_bus",
        reason="gpu_lost",
        after="wilicc/gpu-burn#1",
        cause=("79, GPU has fallen off the bus",),
        text="[74889.644138] NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.\n"
        "[74889.644191] NVRM: GPU at 0000:02:00.0 has fallen off the bus.\n"
        + FRAMES
        + "RuntimeError: CUDA error: unknown error\n"
        + ASYNC,
    ),
    Composed(
        name="gpu_lost_device_handle",
        reason="gpu_lost",
        after="rwth-i6/returnn#1486",
        cause=("Unable to determine the device handle for GPU", "GPU is lost"),
        noise="start",
        text="+ nvidia-smi\nUnable to determine the device handle for GPU 0000:03:00.0: GPU is lost.  "
        "Reboot the system to recover this GPU\nhealth check failed, exiting",
    ),
    Composed(
        name="gpu_lost_no_capable_device",
        reason="gpu_lost",
        after="pytorch/pytorch: cudaErrorNoDevice",
        cause=("no CUDA-capable device is detected",),
        noise="start",
        text=FRAMES + "RuntimeError: CUDA error: no CUDA-capable device is detected\n" + ASYNC,
        accept=("driver_mismatch",),
    ),
    Composed(
        name="gpu_hardware_gsp_timeout",
        reason="gpu_hardware",
        after="NVIDIA/open-gpu-kernel-modules#446",
        cause=("119, pid=",),
        text="kernel: NVRM: Xid (PCI:0000:c1:00): 119, pid=7321, name=python, Timeout after 6s of waiting "
        "for RPC response from GPU1 GSP! Expected function 76 (GSP_RM_CONTROL) (0x2080a0d7 0x4)\n"
        + FRAMES
        + "RuntimeError: CUDA error: unspecified launch failure\n"
        + ASYNC,
    ),
    Composed(
        name="gpu_hardware_internal_halt",
        reason="gpu_hardware",
        after="NVIDIA Xid catalogue: 62",
        cause=("62, ",),
        noise="megatron",
        text="[918273.112] NVRM: Xid (PCI:0000:47:00): 62, 0a1f(2d4c) 00000000 00000000\n"
        + watchdog(3, "ALLREDUCE", 600014)
        + ELASTIC,
    ),
    Composed(
        name="gpu_hardware_thermal",
        reason="gpu_hardware",
        after="NVIDIA/open-gpu-kernel-modules: thermal shutdown",
        cause=("thermal", "Thermal"),
        text="health: GPU 00000000:4E:00.0: HW Thermal Slowdown active, HW Power Brake Slowdown active\n"
        "kernel: nvidia 0000:4e:00.0: GPU thermal shutdown: temperature above the maximum\n"
        + FRAMES
        + "RuntimeError: CUDA error: unspecified launch failure\n",
    ),
    Composed(
        name="nvlink_xid_74",
        reason="nvlink",
        after="NVIDIA/nccl#1562",
        cause=("): 74, ",),
        text="[522331.019] NVRM: Xid (PCI:0000:8a:00): 74, pid=55121, name=python, NVLink: fatal error "
        "detected on link 4(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)\n"
        + watchdog(4, "ALLREDUCE", 600031)
        + watchdog(0, "ALLREDUCE", 600047)
        + ELASTIC,
    ),
    Composed(
        name="nvlink_netir_149",
        reason="nvlink",
        after="leptonai/gpud#1174",
        cause=("149, NETIR",),
        noise="megatron",
        text="kernel: NVRM: Xid (PCI:0019:01:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000 "
        "0x00000000 0x00000000 0x00000000 0x00000000)\nkernel: NVRM: Xid (PCI:0019:01:00): 45, "
        "pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149\n"
        + FRAMES
        + "RuntimeError: CUDA error: unspecified launch failure\n",
    ),
    Composed(
        name="nvlink_peer_memory",
        reason="nvlink",
        after="marin-community/marin#8934",
        cause=("Invalid access of peer GPU memory over nvlink",),
        text=FRAMES
        + "torch.AcceleratorError: CUDA error: Invalid access of peer GPU memory over nvlink or a "
        "hardware error\n" + ASYNC,
        accept=("gpu_hardware",),
    ),
    Composed(
        name="driver_library_mismatch",
        reason="driver_mismatch",
        after="mozilla/translations#1167",
        cause=("Failed to initialize NVML: Driver/library version mismatch",),
        exit_code="75:0",
        noise="start",
        text="[train] nvidia-smi failed with return code 18\n[train] Failed to initialize NVML: "
        "Driver/library version mismatch\n[train] NVML library version: 550.144\n[train] No GPUs were "
        "found available on this machine. Exiting with EX_TEMPFAIL (75)",
    ),
    Composed(
        name="driver_insufficient",
        reason="driver_mismatch",
        after="pytorch/pytorch: cudaErrorInsufficientDriver",
        cause=("CUDA driver version is insufficient for CUDA runtime version",),
        noise="start",
        text="terminate called after throwing an instance of 'thrust::system::system_error'\n  what():  "
        "CUDA driver version is insufficient for CUDA runtime version\nAborted (core dumped)",
        exit_code="134:0",
    ),
    Composed(
        name="nccl_timeout_all_ranks",
        reason="nccl_timeout",
        after="hiyouga/LlamaFactory#7396",
        cause=("Watchdog caught collective operation timeout",),
        noise="bars",
        nodes=("n1", "n2"),
        text="".join(watchdog(rank, "ALLREDUCE", 600060 + rank) for rank in (0, 4, 2, 3, 1))
        + "[rank0]:[E301 11:19:49.465150152 ProcessGroupNCCL.cpp:1664] [PG 1 Rank 0] Exception (either "
        "an error or timeout) detected by watchdog at work: 1580, last enqueued NCCL work: 1582, last "
        "completed NCCL work: 1579.\n[rank0]: terminate called after throwing an instance of "
        "'c10::DistBackendError'\n" + ELASTIC,
    ),
    Composed(
        name="nccl_timeout_older_wording",
        reason="nccl_timeout",
        after="OFA-Sys/OFA#271",
        cause=("Watchdog caught collective operation timeout",),
        noise="megatron",
        text="".join(
            f"[E ProcessGroupNCCL.cpp:737] [Rank {rank}] Watchdog caught collective operation timeout: "
            f"WorkNCCL(SeqNum=469508, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 180221{rank} "
            "milliseconds before timing out.\n"
            for rank in (1, 3, 2, 6)
        )
        + "terminate called after throwing an instance of 'std::runtime_error'\n"
        + STOPPED,
    ),
    Composed(
        name="nccl_remote_peer_closed",
        reason="nccl_remote",
        after="NVIDIA/nccl#1232",
        cause=(
            "Connection closed by remote peer",
            "remote process exited or there was a network error",
            "ncclRemoteError",
        ),
        nodes=("n1", "n2"),
        text="n1:13571:13571 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote "
        "peer n2<42830>\nn1:13571:13571 [0] NCCL INFO misc/socket.cc:750 -> 6\n"
        + FRAMES
        + "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
        "ProcessGroupNCCL.cpp:1970, remote process exited or there was a network error, NCCL version "
        "2.20.5\nncclRemoteError: A call failed possibly due to a network error or a remote process "
        "exiting prematurely.\nLast error:\nsocketProgress: Connection closed by remote peer n2<42830>",
    ),
    Composed(
        name="nccl_remote_broken_pipe",
        reason="nccl_remote",
        after="NVIDIA/nccl#795",
        cause=("failed : Broken pipe", "Connection closed by remote peer"),
        nodes=("n1", "n2"),
        accept=("network",),
        text="n1:183006:183220 [1] misc/socket.cc:518 NCCL WARN Net : Call to recv from "
        "10.0.84.247<58355> failed : Broken pipe\nn1:183006:183220 [1] NCCL INFO misc/socket.cc:535 -> 6\n"
        "n1:183006:183181 [1] misc/socket.cc:538 NCCL WARN Net : Connection closed by remote peer "
        "n2<47861>\n"
        + FRAMES
        + "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1275, internal error, "
        "NCCL version 2.14.3\nncclInternalError: Internal check failed.",
    ),
    Composed(
        name="network_infiniband_completion",
        reason="network",
        after="NVIDIA/nccl#1814",
        cause=("NET/IB : Got completion from peer",),
        accept=("nccl_remote",),
        nodes=("n1", "n2"),
        text="n1:984:1357 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer "
        "10.36.143.59<44206> with status=12 opcode=129 len=65536 vendor err 129 (Recv) localGid "
        "::ffff:10.87.88.182 remoteGids::ffff:10.87.4.221\nn1:984:1357 [4] NCCL INFO transport/net.cc:1298 "
        "-> 6\nn1:984:1357 [4] NCCL INFO proxy.cc:874 -> 6 [Progress Thread]\n"
        + FRAMES
        + "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process "
        "exited or there was a network error, NCCL version 2.21.5",
    ),
    Composed(
        name="network_ibv_modify",
        reason="network",
        after="NVIDIA/nccl-tests#252",
        cause=("Call to ibv_modify_qp failed",),
        accept=("nccl_remote",),
        noise="start",
        nodes=("n1", "n2"),
        text="n2:25146:25854 [0] misc/ibvwrap.cc:262 NCCL WARN Call to ibv_modify_qp failed with error "
        "Connection timed out errno 110\nn2:25146:25854 [0] NCCL INFO transport/net_ib.cc:1150 -> 2\n"
        + FRAMES
        + "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1333, unhandled system "
        "error (run with NCCL_DEBUG=INFO for details), NCCL version 2.19.3\nncclSystemError: System call "
        "(e.g. socket, malloc) or external library call failed or device error.",
    ),
    Composed(
        name="network_no_route",
        reason="network",
        after="NVIDIA/nccl#697",
        cause=("No route to host",),
        accept=("rendezvous", "nccl_remote"),
        noise="start",
        nodes=("n1", "n2"),
        text="n1:1050:1315 [0] misc/socket.cc:456 NCCL WARN socketStartConnect: Connect to "
        "10.0.0.2<45763> failed : No route to host\nn1:1050:1315 [0] NCCL INFO misc/socket.cc:564 -> 2\n"
        + FRAMES
        + "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, unhandled system "
        "error (run with NCCL_DEBUG=INFO for details), NCCL version 2.18.6",
    ),
]

if __name__ == "__main__":
    main(CASES)
