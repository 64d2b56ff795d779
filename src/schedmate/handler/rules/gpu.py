"""GPUs and the links between them: what the driver, its tools and the runtimes report.

Xid numbers after NVIDIA's catalogue: a job's own faults (13, 31, 43, 45) are no hardware's.
"""

import re

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_XID = r"\bxid\b(?: ?\([^)]{1,60}\))?(?: errors?)?(?: code| event)?(?:[:=]| is| was)? {0,3}"
_HARMLESS = LazyPattern(
    r"\b(?:no|none|0|without) (?:\w{1,20} ){0,3}(?:xid|ecc|errors?)|(?:errors?|count"
    r"|total)[:=] ?0\b"
    r"|: (?:none|ok|passed)$|(?:occurred|lost|failure|pending) {0,12}: {0,4}(?:no|n/a|none|false)\b"
    r"|failed call to cuInit|correctable: 0",
    re.IGNORECASE,
)


def _xids(*numbers: int) -> str:
    return _XID + rf"(?:{'|'.join(map(str, numbers))})\b"


RULES = (
    Rule(
        name="uncorrectable-error",
        reason="gpu_ecc",
        pattern=LazyPattern(
            r"uncorrect(?:able|ed) (?:volatile |double.bit )?ECC|ECC_?Uncorrectable"
            r"|double.bit (?:ECC )?error|\b[1-9]\d{0,6} (?:volatile |aggregate )?DBEs?\b"
            r"|row.?remap\w{0,4} (?:has )?fail|remapping failure"
            r"|[1-9]\d{0,8} uncorrectable hardware errors? detected|ERREVENT_ATHUB_INTERRUPT|"
            + _xids(48, 63, 64, 92, 94, 95, 140, 156, 157, 160, 161, 171, 172),
            re.IGNORECASE,
        ),
        unless=_HARMLESS,
        confidence=0.96,
        positives=(
            "RuntimeError: CUDA error: uncorrectable ECC error encountered",
            "NVRM: Xid (PCI:0000:3b:00): 48, pid=812, DBE (double bit error)",
            (
                "NVRM: Xid (PCI:0000:00:08): 94, pid='<unknown>', name=<unknown>, Contained: SM "
                "(0x1). RST: No, D-RST: No"
            ),
            (
                "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for "
                "remapping, reset gpu to activate."
            ),
            "n1:812:901 [3] NCCL WARN Cuda failure 214 'uncorrectable ECC error encountered'",
            "E0101 cuda_driver.cc:1221] failed to synchronize: CUDA_ERROR_ECC_UNCORRECTABLE",
            "amdgpu 0000:c1:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block",
        ),
        negatives=(
            "ECC errors: 0",
            "NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception",
            "uncorrectable ECC errors: 0",
            "gpu health: no uncorrectable ECC errors found",
            "Volatile Uncorr. ECC",
            "        Remapping Failure Occurred        : No",
        ),
    ),
    Rule(
        name="off-the-bus",
        reason="gpu_lost",
        pattern=LazyPattern(
            r"has fallen off the bus|GPU(?: is|IsL| has been|) ?lost\b|GpuIsLost"
            r"|no (?:CUDA|ROCm)-capable device (?:is|was) detected|no (?:CUDA"
            r"|HIP) GPUs are available"
            r"|CUDA_ERROR_NO_DEVICE|hipErrorNoDevice|cudaErrorNoDevice"
            r"|^no devices were found|unable to determine the device handle for gpu"
            r"|couldn't communicate with the nvidia driver|rm_?init_?adapter failed"
            r"|failed to initialize nvml: (?:unknown error|driver not loaded|gpu access blocked"
            r"|no supported gpus)|NVMLError_(?:DriverNotLoaded|Unknown|GpuIsLost|NoPermission)"
            r"|nvml error: (?:driver not loaded|unknown)|Found no NVIDIA driver on your system"
            r"|Allocate failed due to requested number of devices unavailable for \S{1,60}gpu"
            r"|nvidia-container-cli: device error: .{0,60}unknown device"
            r"|synStatus=\S{1,8} \[[^]]{1,40}\] Device (?:acquire|open) failed|" + _xids(79),
            re.IGNORECASE,
        ),
        unless=_HARMLESS,
        confidence=0.95,
        positives=(
            "NVRM: GPU at PCI:0000:3b:00 has fallen off the bus.",
            "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.",
            "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error",
            "RuntimeError: CUDA error: no CUDA-capable device is detected",
            "RuntimeError: No CUDA GPUs are available",
            "No devices were found",
            "Failed to initialize NVML: Unknown Error",
            (
                "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
                "Make sure that the latest NVIDIA driver is installed and running."
            ),
            "NVRM: GPU 0000:0a:00.0: RmInitAdapter failed! (0x24:0x72:1568)",
            "pynvml.NVMLError_GpuIsLost: GPU is lost",
            "RuntimeError: No HIP GPUs are available",
        ),
        negatives=(
            "packets lost: 0",
            "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
            "AssertionError: Torch not compiled with CUDA enabled",
            "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable",
            "checking for Xid 79: none",
        ),
    ),
    Rule(
        name="fabric",
        reason="nvlink",
        pattern=LazyPattern(
            r"system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|cudaErrorSystemNotReady"
            r"|cudaErrorNvlinkUncorrectable|CUDA_ERROR_NVLINK_UNCORRECTABLE"
            r"|uncorrectable NVLink error|invalid access of peer GPU memory over nvlink"
            r"|\bSXid\b[^,]{0,80}[:,] ?\d{4,6}, fatal"
            r"|NVLink: (?:fatal|uncorrectable) error|fabric ?manager.{0,60}(?:failed|not running"
            r"|error code|exited)|nvlink\w{0,10} (?:is|are|went|link \d{1,2} is) (?:down|inactive)|"
            + _xids(74, 121, 137, *range(144, 151), 155),
            re.IGNORECASE,
        ),
        unless=_HARMLESS,
        confidence=0.93,
        positives=(
            "NVRM: Xid (PCI:0000:3b:00): 74, pid=812, NVLink: fatal error detected",
            "RuntimeError: CUDA error: system not yet initialized",
            (
                "torch.AcceleratorError: CUDA error: Invalid access of peer GPU memory over nvlink "
                "or a hardware error"
            ),
            (
                "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda "
                "functions before calling NumCudaDevices()? Error 802: system not yet initialized"
            ),
            ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"),
            "n1:77:99 [0] NCCL WARN Cuda failure 220 'uncorrectable NVLink error detected'",
            "NVRM: Xid (PCI:0000:dc:00): 149, pid=1818990, NETIR LinkEvt",
        ),
        negatives=(
            "NVLink: 12 links active",
            "nvidia-fabricmanager: active (running)",
            "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 30 egress",
            "NCCL INFO NVLS multicast support is available on dev 0",
        ),
    ),
    Rule(
        name="xid",
        reason="gpu_hardware",
        pattern=LazyPattern(
            r"GPU (?:recovery action changed|requires? (?:a )?reset|reset required)"
            r"|HW Exception by GPU node-\d{1,3}|amdgpu.{0,80}GPU reset(?:\(\d{1,4}\))? "
            r"(?:begin|failed)|amdgpu.{0,80}ring \S{1,30} timeout"
            r"|(?:nvidia|amdgpu) [\da-f:.]{7,14}: PCIe Bus Error: severity=Uncorrect"
            r"|gpu.{0,60}(?:thermal shutdown|power brake shutdown|shutdown temp\w{0,8} (?:reached"
            r"|exceeded))|GPU Hang\b|Timeout waiting for RPC from GSP|"
            + _xids(
                38,
                46,
                54,
                56,
                57,
                58,
                60,
                61,
                62,
                65,
                78,
                109,
                110,
                116,
                117,
                118,
                119,
                120,
                *range(122, 127),
                129,
                131,
                136,
                143,
                151,
                154,
                158,
                159,
                162,
                167,
                168,
                169,
            ),
            re.IGNORECASE,
        ),
        unless=LazyPattern(_HARMLESS.pattern + r"|to 0x0 \(None\)", re.IGNORECASE),
        confidence=0.93,
        positives=(
            "NVRM: Xid (PCI:0000:3b:00): 119, pid=812, Timeout waiting for RPC from GSP!",
            "NVRM: Xid (PCI:0000:3b:00): 62, 0096(1c54) 00000000 00000000",
            (
                "NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to "
                "0x1 (GPU Reset Required)"
            ),
            ("HW Exception by GPU node-1 (Agent handle: 0x7f2b40) reason :GPU Hang"),
            "amdgpu 0000:83:00.0: amdgpu: GPU reset begin!",
            (
                "nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), "
                "type=Transaction Layer, (Requester ID)"
            ),
        ),
        negatives=(
            "NVRM: Xid (PCI:0000:3b:00): 31, MMU Fault",
            "pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0",
            "Xid: none",
            "SW Thermal Slowdown: Not Active",
        ),
    ),
    Rule(
        name="driver-version",
        reason="driver_mismatch",
        pattern=LazyPattern(
            r"driver/library version mismatch|CUDA driver version is insufficient"
            r"|NVIDIA driver on your system is too old|cudaErrorInsufficientDriver"
            r"|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|CUDA_ERROR_COMPAT_NOT_SUPPORTED"
            r"|forward compatibility was attempted on non supported HW"
            r"|unsupported display driver / cuda driver combination"
            r"|PTX was compiled with an unsupported toolchain|CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
            r"|API mismatch: the (?:NVIDIA kernel module|client) has"
            r"|unsatisfied condition: (?:cuda|driver)>=|NVMLError_LibRmVersionMismatch"
            r"|kernel version [\d.]{3,20} does not match DSO version"
            r"|unsupported CUDA version: driver [\d.]{1,12} < image"
            r"|built for NVIDIA Driver Release .{0,60}compatibility mode is UNAVAILABLE"
            r"|driver version [\d.]{1,20} (?:is )?(?:older than|too old|lower than|less than|below)"
            r"|(?:nvidia|cuda|gpu|amdgpu|kfd) driver (?:version )?(?:[\d.]{1,20} )?is (?:too old"
            r"|older"
            r"|outdated|not (?:new enough|compatible|supported))"
            r"|requires (?:a )?(?:CUDA |NVIDIA )?driver (?:version )?(?:>="
            r"|[\d.]{3,12} or (?:newer|later))",
            re.IGNORECASE,
        ),
        confidence=0.93,
        positives=(
            "Failed to initialize NVML: Driver/library version mismatch",
            "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
            "CUDA driver version is insufficient for CUDA runtime version",
            (
                "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward "
                "compatibility was attempted on non supported HW"
            ),
            (
                "RuntimeError: CUDA error: the provided PTX was compiled with an unsupported "
                "toolchain."
            ),
            (
                "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, "
                "please update your driver to a newer version"
            ),
            (
                "nvidia-docker | 2017/12/20 Error: unsupported CUDA version: driver 8.0 < "
                "image 9.0.176"
            ),
            (
                "ERROR: This container was built for NVIDIA Driver Release 550.54 or later, but "
                "version 470.82.01 was detected and compatibility mode is UNAVAILABLE."
            ),
            "XlaRuntimeError: INTERNAL: CUDA driver version 11.4 is older than the required 12.1",
            (
                "NVRM: API mismatch: the client has the version 535.104, but this kernel "
                "module has 525"
            ),
        ),
        negatives=("Driver Version: 550.54", "driver too old? no, 550.54 will do"),
    ),
    Rule(
        # an illegal access of the job's own kernel; the runtime's message shows it better
        name="xid",
        reason="cuda_illegal_access",
        pattern=LazyPattern(_xids(13, 31), re.IGNORECASE),
        unless=_HARMLESS,
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "NVRM: Xid (PCI:0000:00:07): 31, pid=2512125, name=python3.10, Ch 00000008, intr "
                "00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_8 faulted @ 0x73ac_1c000000."
            ),
            "NVRM: Xid (0000:01:00): 13, 0005 00000000 0000502d 00000104 00000000 00000100",
        ),
        negatives=(
            "NVRM: Xid (PCI:0000:00:05): 43, pid=1045242, name=pt_main_thread, Ch 00000008",
            "NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, name=python3, Ch 00000001",
        ),
    ),
)
