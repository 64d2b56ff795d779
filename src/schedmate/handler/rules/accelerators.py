"""Accelerators without CUDA or ROCm: Ascend, Gaudi, TPU, Trainium and others.

Ascend's runtime numbers its errors: EI and EJ are of its collectives, EL of its memory, those that
end in 9999 are inner errors of any part. Of the numbers that calls return, 107xxx are wrong calls
and waits that timed out, 207xxx missing resources, 507xxx faults inside the device; most of them
only name the place, and the line below names the error.
"""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

RULES = (
    Rule(
        name="accelerator-memory",
        reason="gpu_oom",
        pattern=LazyPattern(
            r"\bEL0004: |\balloc device memory failed|\[Out of memory\]|\bNRT_RESOURCE in\b"
            r"|\bNRT_RESOURCE\b.{0,120}(?:[Aa]lloc|memory)|[Ff]ailed to allocate .{0,60}"
            r"(?:on|from) (?:ND|Neuron(?:Core)?|NPU|HPU|MLU|TPU|device HBM)\b"
            r"|error code(?: is)? ?:? ?(?:207001|207018|245000)\b"
        ),
        confidence=0.9,
        positives=(
            "EL0004: [PID: 553] 2025-09-17-04:55:13.065.712 Failed to allocate memory.",
            "ERROR  TDRV:dmem_alloc  Failed to allocate 2147483648 bytes on ND 0:NC 1",
            "RuntimeError: synStatus=2 [Out of memory] Device memory allocation failed",
            "2024-Jul-30 14:22:31 ERROR   NRT:nrt_infodump   Failure: NRT_RESOURCE in nrt_load()",
            "RuntimeError: NPU function error: aclrtMalloc, error code is 207018",
        ),
        negatives=("allocated 2147483648 bytes on NPU 0",),
    ),
    Rule(
        name="ascend-port",
        reason="port_conflict",
        pattern=LazyPattern(r"\bEJ000[3-9]: .{0,200}(?:[Bb]ind|already|in use|occupied)"),
        confidence=0.85,
        positives=(
            (
                "EJ0003: [PID: 88] Failed to bind the IP port. Reason: The IP address and port "
                "have "
                "been bound already."
            ),
        ),
        negatives=("EJ0001: Failed to initialize the HCCP process.",),
    ),
    Rule(
        name="hccl-timeout",
        reason="nccl_timeout",
        pattern=LazyPattern(
            r"\bEI0002: |Notify register times out|\bHCCL (?:watchdog|operation|exec\w{0,4}"
            r"|connect\w{0,4}|collective|link|test)\b.{0,80}(?:timeout|time ?out|timed out)"
            r"|notify wait time ?out|hcclComm\w{0,30}.{0,80}time(?:d )?out"
            r"|\[ERROR\] HCCL\b.{0,300}\b(?:timeout|timed out)"
            r"|\bhccl (?:\w{1,20} ){0,2}task timeout"
            r"|\bHCCL (?:\w{1,20} ){0,3}(?:timeout: rank|timed out|execution timeout)"
        ),
        unless=LazyPattern(r"timeout (?:set|is set|is) to|HCCL_\w{1,20}_TIMEOUT ?[:=]"),
        confidence=0.88,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "EI0002: [PID: 2969] 2025-10-11-15:09:34.713.335 The wait execution of the Notify "
                "register times out. Reason: The Notify register has not received the Notify record"
            ),
            "RuntimeError: HCCL watchdog: collective operation timeout on rank 3",
            "[ERROR] HCCL(12,python):2024-05-01 [task_exception_handler.cc:45] run failed, timeout",
            "RuntimeError: [ERROR] HCCL timeout: rank 3 waits 1800 s for AllReduce",
            "EI9999: The error from device(chipId:0), hccl fftsplus task timeout occurred during",
            "EI0002: Notify register times out. (You can set it by using HCCL_EXEC_TIMEOUT.)",
        ),
        negatives=("HCCL timeout is set to 1800 s", "HCCL_CONNECT_TIMEOUT: 3600, no time out yet"),
    ),
    Rule(
        # a device that waits for another one, in words or as a number
        name="accelerator-wait",
        reason="nccl_timeout",
        pattern=LazyPattern(
            r"error code(?: is)? ?:? ?(?:107019|107020)\b|\b[Nn]otify[ _]?[Ww]ait\b.{0,80}"
            r"(?:fail|error|time)|(?:\bNRT|\bTDRV|\bCCOM|\bENC\b|\bHCL|\bCNCL|\bBKCL|\bXCCL)"
            r".{0,160}(?:[Bb]arrier|[Cc]ollective|[Aa]ll[-_]?[Rr]educe|[Aa]ll[-_]?[Gg]ather)"
            r".{0,80}(?:timed out|timeout|Timeout|TIMEOUT)"
        ),
        unless=LazyPattern(r"\bno time-?out|time-?out (?:is )?(?:set|of|=)"),
        confidence=0.75,
        weight=Weight.SYMPTOM,
        positives=(
            "RuntimeError: npuSynchronizeDevice:NPUStream.cpp:370 NPU error, error code is 107020.",
            "ERROR  ENC:enc_exec  CCOM AllReduce on ring 3: timed out after 600 s",
        ),
        negatives=("HCL barrier done, no timeout", "error code is 1070200"),
    ),
    Rule(
        name="accelerator-peer",
        reason="nccl_remote",
        pattern=LazyPattern(
            r"error code(?: is)? ?:? ?(?:507057|507904)\b|SUSPECT REMOTE ERROR"
            r"|HCCL OP RETRY FAILED"
        ),
        confidence=0.82,
        weight=Weight.SYMPTOM,
        positives=("RuntimeError: NPU function error: SUSPECT REMOTE ERROR, error code is 507057",),
        negatives=("error code is 507015",),
    ),
    Rule(
        name="hccl-rendezvous",
        reason="rendezvous",
        pattern=LazyPattern(
            r"\bEI0006: |Getting socket times out|\bEI00(?:04|05|14|15): "
            r"|\bhcclCommInit\w{0,20}\b.{0,80}(?:fail|error)"
        ),
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "EI0006: [PID: 41] 2024-05-21-11:57:54 Getting socket times out. Reason: Remote "
                "Rank "
                "did not send the data in time."
            ),
            (
                "EI0005: The arguments for collective communication are inconsistent between "
                "ranks: "
                "parameter count, local end 4, remote end 8"
            ),
        ),
        negatives=("hcclCommInitRank done in 3 s",),
    ),
    Rule(
        name="accelerator-link",
        reason="network",
        pattern=LazyPattern(
            r"\bEI00(?:09|12|13): |ROCE CQE error|error code(?: is)? ?:? ?507056\b"
            r"|HCCS LINK ERROR|(?:HCL|hcl|Gaudi|habanalabs).{0,120}"
            r"(?:port\(?s?\)? (?:is |are )?down|NIC \d{1,2} (?:is )?down|link (?:is )?down)"
        ),
        confidence=0.82,
        weight=Weight.SYMPTOM,
        positives=(
            "EI0013: [PID: 1] Execution of the ROCE CQE task failed, remote rank 9",
            "habanalabs hl3: NIC 4 is down, scale-out will not work",
        ),
        negatives=("habanalabs hl3: NIC 4 link is up",),
    ),
    Rule(
        name="accelerator-memory-fault",
        reason="gpu_ecc",
        pattern=LazyPattern(
            r"error code(?: is)? ?:? ?50705[345]\b|HBM MULTI BIT ECC ERROR|\bNPU function error: "
            r"(?:UCE|HBM MULTI BIT ECC|SUSPECT MEM) ERROR"
        ),
        confidence=0.9,
        positives=(
            "RuntimeError: NPU function error: HBM MULTI BIT ECC ERROR, error code is 507054",
        ),
        negatives=("error code is 507015", "HBM ECC errors: 0"),
    ),
    Rule(
        name="accelerator-missing",
        reason="gpu_lost",
        pattern=LazyPattern(
            r"No (?:TPU Platform|neuron device|accelerator|HPU devices?|NPU devices?)\b.{0,20}"
            r"(?:available|found|present)|[Nn]o visible (?:TPU|NPU|HPU) devices?"
            r"|Unable to determine Neuron Driver version|(?:aclrt|rt)SetDevice.{0,80}50703[36]"
            r"|drvRetCode=87\b|error code(?: is)? ?:? ?(?:207004|507010)\b"
        ),
        unless=LazyPattern(r"falling back|Falling back"),
        confidence=0.8,
        positives=(
            "jaxlib.xla_extension.XlaRuntimeError: UNAVAILABLE: No TPU Platform available.",
            (
                "ERROR NRT:nrt_init  Unable to determine Neuron Driver version. Please check "
                "aws-neuron"
            ),
        ),
        negatives=("WARNING:absl:No GPU/TPU found, falling back to CPU.",),
    ),
    Rule(
        name="accelerator-unavailable",
        reason="gpu_lost",
        pattern=LazyPattern(
            r"[Dd]evice acquire failed|synDeviceAcquire\w{0,20}\b.{0,60}(?:fail|error)"
            r"|\bhsa_init [Ff]ailed|TPU slice (?:\S{1,60} )?is unhealthy"
        ),
        unless=LazyPattern(r"[Ff]alling back|retry"),
        confidence=0.8,
        weight=Weight.SYMPTOM,
        positives=(
            "habana_device: FATAL ERROR :: MODULE:PT_DEVICE Device acquire failed",
            "synDeviceAcquireByDeviceType() failed: synStatus=8",
            "rocm: hsa_init Failed, possibly no supported GPU devices",
            (
                "jax.errors.JaxRuntimeError: UNAVAILABLE: worker 3 has been restarted. TPU slice "
                "is unhealthy"
            ),
        ),
        negatives=("hsa_init failed, falling back to the CPU", "device acquired: HPU 0"),
    ),
    Rule(
        # the same words are a note where a program goes on without the device
        name="accelerator-in-use",
        reason="cuda_error",
        pattern=LazyPattern(
            r"(?:TPU|libtpu\.so|libtpu|NPU|HPU|[Aa]ccelerator|[Dd]evice) (?:is |was )?already "
            r"(?:in use|acquired|occupied|being used)"
        ),
        unless=LazyPattern(r"[Ff]alling back|retry"),
        errors_only=True,
        confidence=0.75,
        positives=(
            (
                "RuntimeError: Unable to initialize backend 'tpu': ABORTED: The TPU is already in "
                "use by process with pid 99. Not attempting to load libtpu.so in this process."
            ),
        ),
        negatives=("RuntimeError: TPU is already initialised",),
    ),
    Rule(
        name="xla-session",
        reason="cuda_error",
        pattern=LazyPattern(
            r"xla_client/\S{1,80} ?: Check failed: .{0,300}\((?:Aborted|Unavailable|Cancelled): "
            r"|xla_client/\S{1,80}\] Check failed: .{0,300}\((?:Aborted|Unavailable|Cancelled): "
        ),
        confidence=0.75,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "RuntimeError: tensorflow/compiler/xla/xla_client/xrt_computation_client.cc:421 : "
                "Check failed: session->Run(feed) == OK() (Aborted: Session 0183 is not found. vs."
            ),
            (
                "E tensorflow/compiler/xla/xla_client/tf_logging.cc:11] Check failed: session->"
                "Run(feed) == Status::OK() (Unavailable: From /job:tpu_worker/replica:0/task:0:"
            ),
        ),
        negatives=("xla_client/xrt_computation_client.cc:421 : Check passed",),
    ),
    Rule(
        name="accelerator-reset",
        reason="gpu_hardware",
        pattern=LazyPattern(
            r"habanalabs.{0,120}(?:[Hh]eartbeat failed|RAZWI|going to (?:hard )?reset|hard-reset)"
            r"|/dev/accel\d.{0,60}FATAL ERROR|\bTPU \S{1,60} is not HEALTHY"
            r"|\bNERR_\w{0,20}HW_ERR|hardware (?:execution )?error\b.{0,60}(?:NPU|HPU|Neuron|DMA)"
            r"|(?:\bDMA\)?|HBM|NPU|HPU|AICore) hardware (?:execution )?error"
        ),
        confidence=0.82,
        positives=(
            "habanalabs hl2: Device heartbeat failed! Going to reset device",
            (
                "driver.cc:820] [/dev/accel0 tpu1013:pe1:0] !!!! FATAL ERROR !!!! for "
                "[/dev/accel0 tpu1013]"
            ),
            "RuntimeError: TPU node-v3-32 is not HEALTHY yet. Re-run when all TPUs are HEALTHY",
            "[Error]: System Direct Memory Access (DMA) hardware execution error.",
        ),
        negatives=("habanalabs hl2: Found GAUDI2 device with 96GB DRAM",),
    ),
    Rule(
        name="neuron-compiler",
        reason="compile_error",
        pattern=LazyPattern(
            r"Failed compilation with \['neuronx?-cc'|neuronx?-cc (?:compilation )?(?:failed"
            r"|terminated)"
            r"|\[NCC_\w{3,12}\]|Code object build failed|\bcomgr status = [A-Z]"
            r"|hiprtcCompileProgram"
            r"|\bE(?:40021|40024|81\d{3}|9000\d): .{0,200}[Cc]ompil|Failed to compile (?:NEFF|HLO"
            r"|op)"
        ),
        unless=LazyPattern(r"\b(?:fall(?:ing|s) back|skipp(?:ed|ing)|retrying)\b"),
        confidence=0.88,
        positives=(
            "RuntimeError: Failed compilation with ['neuronx-cc', 'compile', '--target=trn1']",
            (
                "MIOpen Error: /MIOpen/src/hipoc/hipoc_program.cpp:286: Code object build failed. "
                "Source: MIOpenIm2d2Col.cl"
            ),
            "MIOpen(HIP): Error [BuildOcl] comgr status = INVALID_ARGUMENT (2)",
        ),
        negatives=("neuronx-cc: compilation cached",),
    ),
    Rule(
        # which error it was stands before it, below it or nowhere
        name="accelerator-call",
        reason="cuda_error",
        pattern=LazyPattern(
            r"\bNPU (?:function |runtime )?error\b.{0,400}error code(?: is)? ?:? ?"
            r"(?:1\d|20|50)\d{4}\b|\bEI9999: "
        ),
        confidence=0.75,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "RuntimeError: npuSynchronizeDevice:NPUStream.cpp:435 NPU function error: "
                "aclrtSynchronizeDevice, error code is 507046"
            ),
        ),
        negatives=("NPU errors: 0", "NPU error"),
    ),
    Rule(
        # the number names the place; the cause stands before it or nowhere
        name="accelerator-runtime",
        reason="cuda_error",
        pattern=LazyPattern(
            r"\bE[A-HJ-Z0-9]9999: |\bEJ0001: |\bEE1\d{3}: "
            r"|\b(?:NPU|MLU|MUSA|MACA) (?:function |runtime )?error\b"
            r"|error code(?: is)? ?:? ?(?:1\d|20|50)\d{4}\b"
            r"|\(External\) \w{2,8} ?[Ee]rror\b"
            r"|ACL stream synchronize failed|\brt[A-Z]\w{3,40} execute failed, reason=\["
            r"|FATAL ERROR :: MODULE:\w{2,30}|\bsynStatus[ =]{1,3}(?:synStatus )?\d{1,3} \["
            r"|\bsyn\w{3,40} failed\b|\bCN(?:RT|NL|CL)_(?:RET_ERR|STATUS)_[A-RT-Z]\w{3,40}"
            r"|\bNRT_(?:EXEC|INVALID|FAILURE|UNINITIALIZED|TIMEOUT|CLOSED|QUEUE)\w{0,40}"
            r"|\bnrt_\w{3,30}:? (?:failed )?status=[1-9]|\bNERR_[A-Z]\w{2,40}"
            r"|open\(/dev/(?:vfio|accel)\S{0,20}\): Device or resource busy"
            r"|Core halted unexpectedly|Accelerator device halted prematurely"
            r"|(?:TPU|libtpu\.so) (?:is )?already in use by|TPU initialization failed"
            r"|Failed to (?:get global TPU topology|initialize TPU system)"
        ),
        unless=LazyPattern(r"Not attempting to load|[Gg]raph compile failed"),
        confidence=0.75,
        positives=(
            "RuntimeError: ACL stream synchronize failed, error code:507011",
            (
                "EZ9999: Inner Error! The error from device(chipId:0, dieId:0), there is an "
                "aicore error"
            ),
            (
                "EJ0001: Failed to initialize the HCCP process. Reason: Maybe the last training "
                "process is running."
            ),
            (
                "RuntimeError: synNodeCreateWithId failed for node: batch_gemm with synStatus 26 "
                "[Generic failure]. ."
            ),
            "INTERNAL: Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely",
            "RuntimeError: TPU initialization failed: Failed to connect to [localhost]:8353.",
            (
                "RuntimeError: Unable to initialize backend 'tpu': UNKNOWN: TPU initialization "
                "failed: open(/dev/vfio/1): Device or resource busy"
            ),
            "OSError: (External) ACL error, the error code is : 500002. (at npu_op_runner.cc:600)",
            "INTERNAL: Nrt::Load failed on NeuronCores 0-0(2): nrt_load status=1, error message=x",
        ),
        negatives=(
            "Unable to initialize backend 'tpu': module 'jaxlib' has no attribute",
            "NPU errors: 0",
            "the NPU is an Ascend910B",
        ),
    ),
    Rule(
        # that a call failed; which error it was stands below
        name="torch-npu-call",
        reason="cuda_error",
        pattern=LazyPattern(
            r"\bERR\d{2}1\d{2} (?:PTA|OPS|PROF|GRAPH) call |The Inner error is reported as above"
        ),
        confidence=0.6,
        weight=Weight.SYMPTOM,
        positives=(
            "[ERROR] 2025-10-11-15:09:34 (PID:2969, Device:0) ERR00100 PTA call acl api failed.",
            (
                "RuntimeError: The Inner error is reported as above. The process exits for this "
                "inner error, and the current working operator name is Conv2D."
            ),
        ),
        negatives=("PTA call of 3 apis",),
    ),
    Rule(
        # of a collective, in its library's own words
        name="accelerator-collective",
        reason="nccl_remote",
        pattern=LazyPattern(
            r"\bHCCL error in: |\bERR022\d{2} DIST call |\bhccl\w{0,20}Error\b"
            r"|\bHccl[A-Z]\w{2,40},? error code"
            r"|oneCCL.{0,60}\berror\b"
            r"|\bCCL_ERROR\b"
        ),
        confidence=0.6,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/"
                "ProcessGroupHCCL.cpp:64"
            ),
            "[ERROR] 2024-05-21 (PID:9, Device:3, RankID:3) ERR02200 DIST call hccl api failed.",
            "RuntimeError: OPS function error: HcclAllreduce, error code is 6",
        ),
        negatives=("HCCL errors: 0",),
    ),
)
