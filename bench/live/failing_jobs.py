"""Failures of every kind that a retry helps, harms or does not help: `bench.live.wrong_retries`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

HANG_MINUTES = 0.5
ONCE = '[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || { sleep 2; exit 0; }'
ECC = "echo 'RuntimeError: CUDA error: uncorrectable ECC error encountered'; exit 1"
NCCL = (
    "echo 'torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote "
    "process exited or there was a network error, NCCL version 2.19.3'; exit 1"
)
SOME = "for i in 1 2 3; do echo step $i/500 loss 0.5; sleep 1; done"
STEADY = "for i in $(seq 240); do echo step $i/400 loss 0.5; sleep 0.25; done"
BAR = r"""python3 -c '
import sys, time
for n in range(0, 101, 5):
    sys.stderr.write(f"\r{n:3}%|{chr(35) * (n // 10):<10}| {n}/100 [00:04<00:00, 9.1it/s]")
    sys.stderr.flush()
    time.sleep(0.05)
print(file=sys.stderr)
'"""
EPOCHS = 'for i in $(seq 10); do echo "epoch $i/10 loss 0.5"; sleep 0.2; done'
AGAIN = "sbatch --ntasks=1 --mem=10 -o /dev/null -J carry_on --wrap='sleep 20'"
FILES = {
    "train.py": "import time\nfor epoch in range(1000):\n    time.sleep(1)\n"
    "    print(f'epoch {epoch + 1}/1000', flush=True)\n",
}
_IN_PYTHON = """
import os, subprocess, sys, time
time.sleep(2)
words = ["sbatch", "--ntasks=1", "--mem=10", "-o", "/dev/null", "--wrap", "sleep 20"]
subprocess.run(words, cwd=os.environ["ELSEWHERE"], check=True)
print("RuntimeError: CUDA error: uncorrectable ECC error encountered")
sys.exit(1)
"""
_HIDDEN = """
import base64, os, subprocess, sys, time
time.sleep(2)
name = base64.b64decode("c2JhdGNo").decode()
words = [name, "--ntasks=1", "--mem=10", "-o", "/dev/null", "--wrap", "sleep 20"]
subprocess.run(words, cwd=os.environ["ELSEWHERE"], check=True)
print("RuntimeError: CUDA error: uncorrectable ECC error encountered")
sys.exit(1)
"""
_LATE = """
import base64, os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(8)
        name = base64.b64decode("c2JhdGNo").decode()
        words = [name, "--ntasks=1", "--mem=10", "-o", "/dev/null", "--wrap", "sleep 20"]
        subprocess.run(words, cwd=os.environ["ELSEWHERE"])
    os._exit(0)
time.sleep(3)
print("RuntimeError: CUDA error: uncorrectable ECC error encountered", flush=True)
sys.exit(1)
"""
_ENCODED = b64encode(f"sleep 2; cd $ELSEWHERE; {AGAIN}; {ECC}\n".encode()).decode()
_REQUEUES = """
import os, subprocess, time
time.sleep(2)
subprocess.run(["scontrol", "requeue", os.environ["SLURM_JOB_ID"]])
time.sleep(60)
"""
_CHAIN = '(cd $ELSEWHERE && bash -c "$(sed s/carry_on/link/ $OLDPWD/next.txt)")'
_RESUMES = """
import os, pickle, time
start = 0
if os.path.exists("last.pkl"):
    with open("last.pkl", "rb") as file:
        state = pickle.load(file)
    start = state["epoch"] + 1
for epoch in range(start, 40):
    time.sleep(0.1 if start else 5)
    print(f"epoch {epoch + 1}/40", flush=True)
    with open("last.pkl", "wb") as file:
        pickle.dump({"epoch": epoch}, file)
"""
_CONSUMES = "import socket; pair = socket.socketpair(); pair[0].recv(1)"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Failing:
    """`answers` are commands of its owner on a login node, once it has ended; `dependants` flags of
    jobs that are submitted with it."""

    name: str
    script: str
    retried: bool = False
    flags: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    dependants: tuple[str, ...] = ()
    answers: tuple[tuple[str, ...], ...] = ()
    arguments: tuple[str, ...] = ()
    minutes: int = 60
    waits: bool = False
    submits: bool = False
    """It submits jobs itself, and does so before others are submitted that could have: all nodes of
    a private cluster are one machine."""
    script_name: str = "job.sh"


def _left(name: str, script: str, **parts: object) -> Failing:
    return Failing(name=name, script=script, **parts)  # type: ignore[arg-type]


def _submits(name: str, script: str, **parts: object) -> Failing:
    return _left(name, script, submits=True, **parts)


def _retried(name: str, script: str, **parts: object) -> Failing:
    return Failing(name=name, script=f"{ONCE}\n{script}", retried=True, **parts)  # type: ignore[arg-type]


def _by_hand(name: str, *words: str) -> Failing:
    return _left(name, f"{SOME}; {ECC}", answers=(words,), script_name=f"{name}.sh")


_SBATCH = ("sbatch", "--ntasks=1", "--mem=10", "-o", "/dev/null")
KINDS = (
    _left("afternotok", f"{SOME}; {ECC}", dependants=("--dependency=afternotok:{job}",)),
    _left("afterany", f"{SOME}; {ECC}", dependants=("--dependency=afterany:{job}",)),
    _submits("submits", f"{SOME}; {AGAIN}; {ECC}"),
    _submits("submits-elsewhere", f"{SOME}; (cd $ELSEWHERE && {AGAIN}); {ECC}"),
    _submits("trap", f"trap '{AGAIN.replace(chr(39), chr(34))}' EXIT; {SOME}; {ECC}"),
    _submits(
        "helper", f"{SOME}; bash next.txt; {ECC}", files={"next.txt": f"cd $ELSEWHERE\n{AGAIN}\n"}
    ),
    _submits("python", "exec python3 on.py", files={"on.py": _IN_PYTHON}),
    _submits("hidden", "exec python3 on.py", files={"on.py": _HIDDEN}),
    _submits("hidden-in-srun", "srun python3 on.py", files={"on.py": _HIDDEN}),
    _submits("hidden-in-pipe", "base64 -d code.txt | bash", files={"code.txt": _ENCODED}),
    _submits("left-behind", "exec python3 on.py", files={"on.py": _LATE}),
    _submits(
        "array-hidden", "exec python3 on.py", files={"on.py": _HIDDEN}, flags=("--array=0-1",)
    ),
    _submits("python-requeues", f"{ONCE}; exec python3 on.py", files={"on.py": _REQUEUES}),
    _submits("chain", f"{_CHAIN}; {SOME}; {ECC}", files={"next.txt": f"{AGAIN}\n"}),
    _left("requeues-itself", f"{ONCE}; scontrol requeue $SLURM_JOB_ID; sleep 60"),
    _by_hand("same-script", *_SBATCH, "{place}/same-script.sh"),
    _by_hand("with-resume", *_SBATCH, "{place}/with-resume.sh", "--resume"),
    _by_hand(
        "copy", "sh", "-c", f"cp {{place}}/copy.sh mine.sh && {' '.join(_SBATCH)} -J mine mine.sh"
    ),
    _by_hand(
        "edited-copy",
        *("sh", "-c"),
        f"sed 's/500/400/; s/sleep 1/sleep 2/' {{place}}/edited-copy.sh > b.sh"
        f" && {' '.join(_SBATCH)} -J mine b.sh",
    ),
    _by_hand("late-copy", "sh", "-c", f"sleep 12; {' '.join(_SBATCH)} {{place}}/late-copy.sh"),
    _by_hand("changes-into", *_SBATCH, "-J", "x", "--wrap=cd {place}\nsleep 5"),
    _by_hand("chdir", *_SBATCH, "-J", "x", "-D", "{place}", "--wrap=sleep 5"),
    _left("bar", f"{BAR}; {NCCL}"),
    _left("epochs", f"{EPOCHS}; echo Training completed; {NCCL}"),
    _left("all-epochs", f"{EPOCHS}; sleep 1; {ECC}"),
    _left("saved", f"{EPOCHS}; echo 'Saving final model checkpoint to out/final.pt'; kill -9 $$"),
    _left("consumer", f"{STEADY}; python3 -c '{_CONSUMES}'", waits=True),
    _left("parent", f"{STEADY}; sleep 400 & wait", waits=True),
    _left("unread-limit", "exec /bin/sleep 600", minutes=1),
    _left("limit", "exec python3 train.py", minutes=1),
    _left("fallback", "python3 -m no_such_launcher train.py || exec sleep 600", minutes=1),
    _left("opted-out", f"{SOME}; {ECC}", flags=("--comment=schedmate=off",)),
    _left("import", f"{SOME}; python3 -c 'import no_such_module'"),
    _left("key", f"{SOME}; python3 -c 'x = dict(); x[1]'"),
    _left("no-file", f"{SOME}; python3 -c 'open(\"no/such/file\")'"),
    _left("gpu-memory", f"{SOME}; echo 'torch.cuda.OutOfMemoryError: CUDA out of memory.'; exit 1"),
    _left("segfault-at-exit", f"{EPOCHS}; echo Training finished; kill -SEGV $$"),
    _left("finished-then-limit", f"{EPOCHS}; echo Training finished; sleep 600", minutes=1),
    _left(
        "head-of-singleton",
        f"{SOME}; {ECC}",
        script_name="single.sh",
        dependants=("--dependency=singleton -J single.sh",),
    ),
    _left(
        "head-of-an-array",
        f"{SOME}; {ECC}",
        flags=("--array=0-1",),
        dependants=("--dependency=afterany:{job}",),
    ),
    _left("managed", f"# NEXTFLOW TASK: train (1)\n{SOME}; {ECC}"),
    _retried("ecc", f"{SOME}; {ECC}"),
    _retried("nccl", f"{SOME}; {NCCL}"),
    _retried(
        "gpu-lost",
        f"{SOME}; echo 'NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.'"
        f"; echo 'RuntimeError: CUDA error: unknown error'; exit 1",
    ),
    _retried("disk", f"{SOME}; echo \"OSError: [Errno 5] Input/output error: '/local/x'\"; exit 1"),
    _retried(
        "disk-full",
        f"{SOME}; echo \"OSError: [Errno 28] No space left on device: '/tmp/x'\"; exit 1",
    ),
    _retried(
        "service",
        f'{SOME}; echo "requests.exceptions.ConnectionError: '
        "HTTPSConnectionPool(host='hub', port=443): Max retries exceeded\"; exit 1",
    ),
    _retried("killed", f"{SOME}; kill -9 $$"),
    _retried(
        "resumable-limit", "exec python3 resumes.py", files={"resumes.py": _RESUMES}, minutes=1
    ),
    _retried("head-of-afterok", f"{SOME}; {ECC}", dependants=("--dependency=afterok:{job}",)),
    _retried("array", f"{SOME}; {ECC}", flags=("--array=0-1",)),
    _retried(
        "other-work",
        f"{SOME}; {ECC}",
        answers=((*_SBATCH, "-J", "other", "--wrap=echo something else; sleep 5"),),
    ),
    _retried(
        "next-of-a-series",
        f"echo item $1; {SOME}; {ECC}",
        arguments=("7",),
        answers=((*_SBATCH, "{place}/job.sh", "8"),),
    ),
)
