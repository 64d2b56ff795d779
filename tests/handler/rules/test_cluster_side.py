"""Border cases of the cluster's side: what belongs to whom when several lines speak."""

import pytest

from schedmate.handler import Case, Handler, NamedLog, parse_verdict

STEPS = "".join(f"step {n} | loss {3 - n / 100:.3f} | lr 3e-4\n" for n in range(40))

CASCADES = {
    "a rank out of GPU memory, its peers time out": (
        "gpu_oom",
        {"state": "FAILED"},
        """
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total
[rank0]:[E1 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: Work
[rank0]:[E1 ProcessGroupNCCL.cpp:684] Some NCCL operations have failed or timed out.
srun: error: n1: task 0: Aborted (core dumped)
srun: error: n1: task 3: Exited with exit code 1
""",
    ),
    "it was cancelled": (
        "cancelled",
        {"state": "CANCELLED by 1000", "exit_code": 143},
        """
slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***
torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 15
srun: error: n1: tasks 0-7: Terminated
""",
    ),
    "the same without a word from the scheduler": (
        "cancelled",
        {"exit_code": 143},
        """
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***
slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***
srun: error: n1: tasks 0-7: Terminated
""",
    ),
    "137 and nothing about memory": ("killed", {"exit_code": 137}, "Killed\n"),
    "137 and the kernel's word": (
        "host_oom",
        {"exit_code": 137},
        """
run.sh: line 4: 9213 Killed                  python train.py
slurmstepd: error: Detected 1 oom_kill event in StepId=17.batch. Some of the step tasks have been
""",
    ),
    "NCCL finds no room in shared memory": (
        "shm_exhausted",
        {"exit_code": 1},
        """
n1:12:88 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-Wq2dVe to 33030532
n1:12:88 [0] misc/shmutils.cc:113 NCCL WARN Error while creating shared memory segment /dev/shm/nccl
torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1331, unhandled system error
ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
""",
    ),
    "a GPU falls off the bus, the runtime notices": (
        "gpu_lost",
        {"exit_code": 134},
        """
kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=812, GPU has fallen off the bus.
RuntimeError: CUDA error: unknown error
terminate called after throwing an instance of 'c10::Error'
""",
    ),
    "pyxis shows why the container did not start": (
        "auth_error",
        {"exit_code": 1},
        """
pyxis: importing docker image: nvcr.io/nvidia/pytorch:24.01-py3
slurmstepd: error: pyxis: child 12 failed with error code: 1
slurmstepd: error: pyxis:     [ERROR] URL https://nvcr.io/proxy_auth returned error code: 401
slurmstepd: error: pyxis: couldn't start container
slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1
srun: error: n1: task 0: Exited with exit code 1
""",
    ),
    "a pod that used too much": (
        "host_oom",
        {"state": "Error", "exit_code": 137},
        """
    State:          Terminated
      Reason:       OOMKilled
      Exit Code:    137
  Warning  BackOff  2m  kubelet  Back-off restarting failed container
""",
    ),
    "a pod whose image may not be pulled": (
        "auth_error",
        {"state": "ImagePullBackOff"},
        """
  Warning  Failed   9s  kubelet  Failed to pull image "team/a:1": pull access denied, repository
  Warning  Failed   9s  kubelet  Error: ErrImagePull
  Normal   BackOff  8s  kubelet  Back-off pulling image "team/a:1"
""",
    ),
    "a pod that the node had no room for": (
        "preempted",
        {"state": "Evicted"},
        "Waiting for the pod\n",
    ),
    "LSF's report on memory": (
        "host_oom",
        {"state": "EXIT", "exit_code": 137},
        """
TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.
Exited with exit code 137.
""",
    ),
    "PBS's word on the limit": (
        "time_limit",
        {"exit_code": 271},
        "=>> PBS: job killed: walltime 86417 exceeded limit 86400\n",
    ),
    "a launcher that only passes on a signal": (
        "killed",
        {"exit_code": 247},
        """
[2026-01-01 00:00:00,000] [INFO] [launch.py:428:sigkill_handler] Killing subprocess 6293
[2026-01-01 00:00:00] [ERROR] [launch.py:434:sigkill_handler] ['a.py'] exits with return code = -9
""",
    ),
    "a hub that is not there, asked through three libraries": (
        "service_unreachable",
        {"exit_code": 1},
        """
Traceback (most recent call last):
  File "urllib3/connection.py", line 198, in _new_conn
    sock.connect(sa)
OSError: [Errno 101] Network is unreachable

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "requests/adapters.py", line 667, in send
    resp = conn.urlopen(
requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub', port=443): Max retries exceeded
""",
    ),
}

HARMLESS = """\
n1:77:99 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.4<0>
n1:77:99 [0] NCCL INFO [Service thread] Connection closed by localRank 3
n1:77:99 [0] NCCL INFO Call to connect returned Connection refused, retrying
n1:77:99 [0] graph/search.cc:765 NCCL WARN Could not find a path, falling back to simple order
[W socket.cpp:464] [c10d] The client socket has failed to connect to [n1]:29500 (errno: 97 - Addr
[W729 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=76): Connection reset by peer
[W socket.cpp:426] [c10d] failed to bind to [::]:29500 (errno: 98 - Address already in use).
wandb: Network error (ConnectionError), entering retry loop.
health check: Xid: none
nvidia-smi: ECC errors: 0 corrected, 0 uncorrected
Volatile Uncorr. ECC : 0
checking GPU 0: no Xid errors found
pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0
EDAC MC0: 1 CE memory read error on CPU_SrcID#0
nfs: server 10.0.0.1 OK
slurmstepd: Detected 0 oom-kill events in StepId=17.0
Requeue=enabled, PreemptMode=REQUEUE
srun: job 17 queued and waiting for resources
srun: Job 17 step creation temporarily disabled, retrying (Requested nodes are busy)
slurmstepd: error: Unable to create TMPDIR [/tmp/x]: Permission denied
    error_file: <N/A>
    exitcode  : 0 (pid: 4711)
      Exit Code:    0
      Restart Count:  0
NCCL timeout set to 1800 s
init_process_group(backend=nccl, timeout=0:30:00)
Rendezvous complete for workers. Result: restart_count=0
DataLoader worker (pid 12) started
The node was low on load, good
heartbeat: last sent 200 ms ago; if it keeps lagging, this node can be marked as dead mistakenly
0 Workers (tasks / actors) killed due to memory pressure (OOM), 0 crashed
preemption handler installed, polling the metadata server
if the spot instance is being preempted a checkpoint is written
failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
Retrying (Retry(total=4)) after connection broken by 'NewConnectionError': /simple/torch/
Failed to fetch https://hub/x: 503, retrying in 5 s
tcmalloc: large alloc 4294967296 bytes == 0x5581 @
SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 30 egress
hang detection enabled, timeout 1800 s
0 errors, 0 failed, 0 killed
""".splitlines()


def _diagnosed(text, *, state=None, exit_code=None):
    ended, verdict = parse_verdict(state) if state else (None, "")
    log = NamedLog("a.log", text.encode())
    case = Case(logs=(log,), state=ended, verdict=verdict, exit_code=exit_code)
    return Handler().diagnose(case)


@pytest.mark.parametrize("name", CASCADES)
def test_the_first_cause_is_named_and_not_its_echoes(name):
    reason, verdict, text = CASCADES[name]
    assert _diagnosed(STEPS + text.lstrip("\n"), **verdict).reason == reason


@pytest.mark.parametrize("line", HARMLESS)
def test_a_harmless_line_is_no_failure(line):
    assert _diagnosed(f"{STEPS}{line}\n{STEPS}").reason == "not_failed"
    assert _diagnosed(f"{STEPS}{line}\n").reason == "not_failed"


@pytest.mark.parametrize("line", HARMLESS)
def test_a_harmless_line_explains_no_failure_for_sure(line):
    diagnosis = _diagnosed(f"{STEPS}{line}\n", exit_code=1)
    assert diagnosis.reason == "unknown" or diagnosis.confidence < 0.5
