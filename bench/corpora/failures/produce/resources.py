"""Real limits: memory, shared memory, descriptors, disks, permissions, sick file systems.

Needs root (small tmpfs mounts in their own namespace, a memory cgroup of version 1) and gcc.
"""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

import subprocess
from pathlib import Path

from bench.corpora.failures.produce.making import Job, main
from bench.corpora.failures.produce.trainers import trainer

_TORCH = "import os\nimport torch\n\n"
_MNT = "unshare -m bash -c 'mount -t tmpfs -o size={size} none {where} && {command}'"
_SAVES = (
    _TORCH
    + """def step(state, i):
    if i and i % 4 == 0:
        os.makedirs('out', exist_ok=True)
        {save}
        print(f'saved out/step_{{i}}.pt')
    return 1 / (i + 1)
"""
)
_LOADER = (
    _TORCH
    + """class Clips(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, n):
        return torch.randn({size})


{more}


def prepare():
    return iter(torch.utils.data.DataLoader(Clips(), batch_size=16, num_workers=4))


def step(state, i):
    {keep}
    return 1 / (i + 1)
"""
)
_OWN_SHM = """def cached(self, n, data=Clips.__getitem__):
    from multiprocessing.shared_memory import SharedMemory

    block = SharedMemory(create=True, size=400_000)
    block.buf[:] = bytes(400_000)
    return data(self, n)


Clips.__getitem__ = cached"""
_INJECTED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int watched(int fd) {
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return strstr(path, getenv("SICK_PATH")) != 0;
}
ssize_t write(int fd, const void *data, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (getenv("SICK_WRITE") && watched(fd)) { errno = atoi(getenv("SICK_WRITE")); return -1; }
    return real(fd, data, size);
}
ssize_t read(int fd, void *data, size_t size) {
    static ssize_t (*real)(int, void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "read");
    if (getenv("SICK_READ") && watched(fd)) { errno = atoi(getenv("SICK_READ")); return -1; }
    return real(fd, data, size);
}
"""


def _sick_files(work: Path) -> None:
    """Build a library that makes reads or writes of some paths fail as a file system would."""
    (work / "shards").mkdir()
    (work / "shards" / "part-0003.bin").write_bytes(b"x" * 5000)
    (work / "sick.c").write_text(_INJECTED)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", "sick.so", "sick.c", "-ldl"], cwd=work, check=True
    )


def _unreadable(work: Path) -> None:
    for path in (work, work.parent, work.parent.parent):
        path.chmod(0o755)
    (work / "secret").mkdir(mode=0o700)
    (work / "secret" / "train.jsonl").write_text("{}\n")


_READ = """def step(state, i):
    if i == 8:
        with open('shards/part-0003.bin', 'rb') as shard:
            shard.read()
    return 0.8
"""
_WRITE = """def step(state, i):
    if i == 8:
        with open('shards/metrics.jsonl', 'a') as out:
            out.write('{}' * 40000)
    return 0.8
"""
_BYTES = "open(f'out/step_{i}.pt', 'wb').write(b'0' * 700_000)"
_CGROUP = """#!/bin/bash
box=/sys/fs/cgroup/memory/exam$$
mkdir $box && echo 260000000 > $box/memory.limit_in_bytes
(echo $BASHPID > $box/cgroup.procs; exec python -u train.py)
status=$?
sleep 0.2
rmdir $box
{after}
exit $status
"""
_GROWS = """hoard = []


def step(state, i):
    hoard.append(bytearray(24 << 20))
    return 1 / (i + 1)
"""
_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups python -u train.py"

JOBS = [
    Job(
        name="host_oom_numpy_allocation",
        reason="host_oom",
        cause=("Unable to allocate",),
        files=trainer(
            "print",
            "import numpy as np\n\n\ndef prepare():\n    return np.ones((90_000, 90_000, 8))",
        ),
    ),
    Job(
        name="host_oom_memory_error",
        reason="host_oom",
        cause=("MemoryError",),
        files=trainer(
            "logging",
            "def step(state, i):\n    state[i] = [0] * (9_000_000 * (1 + i))\n    return 1",
        ),
        command="ulimit -v 1200000; bash job.sh",
    ),
    Job(
        name="host_oom_torch_allocator",
        reason="host_oom",
        cause=("can't allocate memory: you tried to allocate",),
        files=trainer(
            "tqdm",
            _TORCH
            + "def step(state, i):\n    return torch.ones(10 ** (15 if i == 12 else 2)).mean().item()",
        ),
    ),
    Job(
        name="host_oom_bad_alloc",
        reason="host_oom",
        cause=("std::bad_alloc",),
        files={
            "loader.cpp": "#include <cstdio>\n#include <vector>\nint main() {\n"
            "  std::vector<std::vector<char>> v;\n  for (int i = 0;; ++i) {\n"
            '    std::printf("loaded shard %d\\n", i);\n    std::fflush(stdout);\n'
            "    v.emplace_back(64 << 20);\n  }\n}\n"
        },
        command="g++ -o loader loader.cpp && ulimit -v 600000; ./loader",
    ),
    Job(
        name="host_oom_cgroup_with_kernel_lines",
        reason="host_oom",
        cause=("Memory cgroup out of memory", "oom-kill"),
        files={
            **trainer("print", _GROWS),
            "job.sh": _CGROUP.format(after='echo "-- last kernel messages"; dmesg | tail -n 6'),
        },
        command="bash job.sh",
    ),
    Job(
        name="killed_by_nine_without_a_word",
        reason="killed",
        cause=("Killed",),
        accept=("host_oom",),
        files={**trainer("logging", _GROWS), "job.sh": _CGROUP.format(after="echo ended: $status")},
        command="bash job.sh",
    ),
    Job(
        name="shm_bus_error",
        reason="shm_exhausted",
        cause=("insufficient shared memory (shm)", "Unexpected bus error", "Bus error"),
        files=trainer("tqdm", _LOADER.format(size=10, more=_OWN_SHM, keep="next(state)")),
        command=_MNT.format(size="2m", where="/dev/shm", command="python -u train.py"),
    ),
    Job(
        name="shm_no_space_for_tensors",
        reason="shm_exhausted",
        cause=("unable to allocate shared memory(shm)",),
        files=trainer("tqdm", _LOADER.format(size=60_000, more="", keep="next(state)")),
        command=_MNT.format(size="2m", where="/dev/shm", command="python -u train.py"),
    ),
    Job(
        name="shm_file_system_strategy",
        reason="shm_exhausted",
        cause=("unable to allocate shared memory(shm)",),
        files=trainer(
            "logging",
            _LOADER.format(
                size=60_000,
                more="torch.multiprocessing.set_sharing_strategy('file_system')",
                keep="next(state)",
            ),
        ),
        command=_MNT.format(size="1m", where="/dev/shm", command="bash job.sh"),
        accept=("disk_full",),
    ),
    Job(
        name="fd_limit_open",
        reason="fd_limit",
        cause=("Too many open files",),
        files=trainer(
            "print",
            "files = []\n\n\ndef step(state, i):\n    files.extend(open('task.py') for _ in range(9))\n    return 1",
        ),
        command="ulimit -n 100; python -u train.py",
    ),
    Job(
        name="fd_limit_loader_tensors",
        reason="fd_limit",
        cause=("Too many open files", "received 0 items of ancdata"),
        files=trainer(
            "caught",
            "kept = []\n\n"
            + _LOADER.format(size=10, more="", keep="kept.append(next(state))").replace(
                "num_workers=4", "num_workers=2, collate_fn=list"
            ),
        ),
        command="ulimit -n 64; python -u train.py",
    ),
    Job(
        name="disk_full_own_write",
        reason="disk_full",
        cause=("No space left on device",),
        files=trainer("print", _SAVES.format(save=_BYTES)),
        command="mkdir out; " + _MNT.format(size="2m", where="out", command="python -u train.py"),
    ),
    Job(
        name="disk_full_torch_save",
        reason="disk_full",
        cause=(
            "No space left on device",
            "PytorchStreamWriter failed writing file",
            "unexpected pos",
        ),
        files=trainer(
            "logging",
            _SAVES.format(save="torch.save({'w': torch.randn(300_000)}, f'out/step_{i}.pt')"),
        ),
        command="mkdir out; "
        + _MNT.format(size="2m", where="out", command="df -h out; bash job.sh"),
    ),
    Job(
        name="disk_full_logging_too",
        reason="disk_full",
        cause=("No space left on device",),
        files=trainer(
            "caught",
            "import logging\n\n\ndef prepare():\n"
            "    logging.getLogger().addHandler(logging.FileHandler('out/run.log'))\n"
            "    return open('out/pad', 'wb').write(b'0' * 45_000)\n\n\n"
            "def step(state, i):\n    open('out/ema.bin', 'ab').write(b'0' * 4100)\n    return 1.5",
        ),
        command="mkdir out; " + _MNT.format(size="64k", where="out", command="python -u train.py"),
    ),
    Job(
        name="disk_full_then_broken_checkpoint",
        reason="disk_full",
        cause=(
            "No space left on device",
            "PytorchStreamWriter failed writing file",
            "unexpected pos",
        ),
        files={
            **trainer(
                "print", _SAVES.format(save="torch.save(torch.randn(200_000), 'out/last.pt')")
            ),
            "job.sh": "#!/bin/bash\nfor attempt in 1 2; do\n  if [ -f out/last.pt ]; then\n"
            '    echo "restarting from out/last.pt"\n'
            "    python -c \"import torch; torch.load('out/last.pt')\" || exit 1\n  fi\n"
            "  python -u train.py && exit 0\n  echo attempt $attempt failed, trying again\ndone\n",
        },
        command="mkdir out; " + _MNT.format(size="500k", where="out", command="bash job.sh"),
    ),
    Job(
        name="quota_exceeded_write",
        reason="disk_quota",
        cause=("Disk quota exceeded",),
        files=trainer("print", _WRITE),
        prepare=_sick_files,
        command="LD_PRELOAD=./sick.so python -u train.py",
        env={"SICK_PATH": "metrics.jsonl", "SICK_WRITE": "122"},
    ),
    Job(
        name="storage_input_output_error",
        reason="storage_io",
        cause=("Input/output error",),
        files=trainer("logging", _READ),
        prepare=_sick_files,
        command="LD_PRELOAD=./sick.so bash job.sh",
        env={"SICK_PATH": "part-0003", "SICK_READ": "5"},
    ),
    Job(
        name="storage_stale_handle",
        reason="storage_io",
        cause=("Stale file handle",),
        files=trainer("tqdm", _READ),
        prepare=_sick_files,
        command="LD_PRELOAD=./sick.so python -u train.py",
        env={"SICK_PATH": "part-0003", "SICK_READ": "116"},
    ),
    Job(
        name="storage_transport_endpoint",
        reason="storage_io",
        cause=(
            "Transport endpoint is not connected",
            "Cannot send after transport endpoint shutdown",
        ),
        files=trainer("caught", _WRITE),
        prepare=_sick_files,
        command="LD_PRELOAD=./sick.so python -u train.py",
        env={"SICK_PATH": "metrics.jsonl", "SICK_WRITE": "108"},
    ),
    Job(
        name="permission_data_directory",
        reason="permission_denied",
        cause=("Permission denied: 'secret/train.jsonl'",),
        files=trainer("print", "def prepare():\n    return open('secret/train.jsonl').readlines()"),
        prepare=_unreadable,
        command=_NOBODY,
    ),
    Job(
        name="permission_output_directory",
        reason="permission_denied",
        cause=("Permission denied",),
        files=trainer(
            "logging",
            "import os\n\n\ndef prepare():\n    os.makedirs('runs/base-v2/checkpoints')\n    return {}",
        ),
        prepare=_unreadable,
        command=_NOBODY,
    ),
]

if __name__ == "__main__":
    main(JOBS)
