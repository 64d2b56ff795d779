"""Native code: crashes, libraries that do not fit, compilers, drivers; and signals from outside.

Wants gcc, g++, nvcc (any) and, for the driver's cases, a CUDA build of torch: its driver is a
stub that is built here and answers with one error.
"""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from bench.corpora.failures.produce.making import Job, Prepare, killed_after, main
from bench.corpora.failures.produce.trainers import trainer

_CRASH = (
    "import ctypes\n\n\ndef step(state, i):\n    return ctypes.string_at(0) if i == 14 else 1.0"
)
_EXT_PLAIN = """#include <Python.h>
{before}
static struct PyModuleDef module = {{PyModuleDef_HEAD_INIT, "fused_ops", 0, -1, 0}};
PyMODINIT_FUNC PyInit_fused_ops(void) {{ {call} return PyModule_Create(&module); }}
"""
_DRIVER = r"""
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned flags) { return atoi(getenv("STUB_INIT")); }
int cuDriverGetVersion(int *version) { *version = atoi(getenv("STUB_VERSION")); return 0; }
static int other(void) { return 999; }
int cuGetExportTable(const void **table, const void *id) { return 999; }
int cuGetProcAddress_v2(const char *name, void **found, int v, unsigned long f, int *status) {
    if (status) *status = 0;
    *found = !strcmp(name, "cuInit") ? (void *)cuInit
           : !strcmp(name, "cuDriverGetVersion") ? (void *)cuDriverGetVersion
           : !strcmp(name, "cuGetProcAddress") ? (void *)cuGetProcAddress_v2
           : (void *)other;
    return 0;
}
int cuGetProcAddress(const char *name, void **found, int v, unsigned long f) {
    return cuGetProcAddress_v2(name, found, v, f, 0);
}
"""


def _driver(work: Path) -> None:
    (work / "libcuda.c").write_text(_DRIVER)
    _compile(work, "-shared", "-fPIC", "-o", "libcuda.so.1", "libcuda.c")


def _compile(work: Path, *arguments: str) -> None:
    subprocess.run(["gcc", *arguments], cwd=work, check=True)


def _extension(before: str, call: str, *flags: str) -> Prepare:
    def prepare(work: Path) -> None:
        import sysconfig  # noqa: PLC0415 - only where an extension is built

        (work / "ops.c").write_text(_EXT_PLAIN.format(before=before, call=call))
        include = f"-I{sysconfig.get_path('include')}"
        _compile(work, "-shared", "-fPIC", *flags, include, "-o", "fused_ops.so", "ops.c")

    return prepare


def _wrong_class(work: Path) -> None:
    """A library of a 32-bit machine: the first bytes say so."""
    _extension("", "")(work)
    data = bytearray((work / "fused_ops.so").read_bytes())
    data[4] = 1
    (work / "fused_ops.so").write_bytes(data)


def _no_module(work: Path) -> None:
    (work / "k.c").write_text("int k(void) { return 1; }\n")
    _compile(work, "-shared", "-fPIC", "-o", "fused_ops.so", "k.c")


def _library_gone(work: Path) -> None:
    """Link an extension against a library that is not there when it is loaded."""
    (work / "k.c").write_text("int k(void) { return 1; }\n")
    _compile(work, "-shared", "-fPIC", "-o", "libcudart_exam.so.11", "k.c")
    link = ("-Wl,--no-as-needed", "-L.", "-l:libcudart_exam.so.11")
    _extension("int k(void);", "k();", *link)(work)
    (work / "libcudart_exam.so.11").unlink()


_CUDA = """import torch


def prepare():
    print('CUDA_VISIBLE_DEVICES=0,1,2,3')
    return {'seen': 0, 'weight': torch.ones(4, 4, device='cuda')}
"""


def _cuda(
    name: str, reason: str, cause: str, init: int, version: int = 13020, **more: object
) -> Job:
    return Job(
        name=name,
        reason=reason,
        cause=(cause,),
        files=trainer(("print", "logging", "caught")[init % 3], _CUDA),
        prepare=_driver,
        env={"LD_LIBRARY_PATH": ".", "STUB_INIT": str(init), "STUB_VERSION": str(version)},
        nodes=("n1",),
        **more,  # type: ignore[arg-type]
    )


_BUILD = """from torch.utils.cpp_extension import load_inline


def prepare():
    return load_inline('scan_ops', cpp_sources='{source}', build_directory='.', verbose=False)
"""
_NO_COMPILER = """import torch


@torch.compile
def fused(x):
    return torch.relu(x) * 2 + 1


def step(state, i):
    return fused(torch.ones(8)).sum().item()
"""

JOBS = [
    Job(
        name="segfault_ctypes",
        reason="segfault",
        cause=("Segmentation fault",),
        files=trainer("print", _CRASH),
        command="bash job.sh",
    ),
    Job(
        name="segfault_faulthandler",
        reason="segfault",
        cause=("Fatal Python error: Segmentation fault",),
        files=trainer("tqdm", _CRASH),
        command="python -X faulthandler -u train.py",
    ),
    Job(
        name="segfault_only_the_signal",
        reason="segfault",
        cause=(),
        files=trainer("logging", _CRASH),
        command="exec python -u train.py",
    ),
    Job(
        name="abort_glibc_double_free",
        reason="segfault",
        cause=("double free", "free(): invalid pointer", "Aborted", "munmap_chunk"),
        files=trainer(
            "print",
            "import ctypes\n\n\ndef step(state, i):\n    if i == 11:\n"
            "        ctypes.CDLL(None).free(ctypes.c_void_p(ctypes.addressof(ctypes.create_string_buffer(64)) + 8))\n"
            "    return 1.0",
        ),
        command="bash job.sh",
    ),
    Job(
        name="illegal_instruction",
        reason="segfault",
        cause=("Illegal instruction",),
        accept=("abi_mismatch",),
        files={
            "kernel.c": '#include <stdio.h>\nint main() { puts("using avx512 kernels"); fflush(stdout);'
            " __builtin_trap(); }\n",
            "job.sh": "gcc -o kernel kernel.c\necho starting\n./kernel\n",
        },
        command="bash job.sh",
    ),
    Job(
        name="abi_undefined_symbol",
        reason="abi_mismatch",
        cause=("undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs",),
        files=trainer("print", "import fused_ops"),
        prepare=_extension(
            "void _ZN3c105ErrorC2ENS_14SourceLocationESs(void);",
            "_ZN3c105ErrorC2ENS_14SourceLocationESs();",
        ),
    ),
    Job(
        name="abi_wrong_elf_class",
        reason="abi_mismatch",
        cause=("wrong ELF class",),
        files=trainer("logging", "import fused_ops"),
        prepare=_wrong_class,
        command="bash job.sh",
    ),
    Job(
        name="abi_missing_shared_library",
        reason="abi_mismatch",
        cause=("cannot open shared object file",),
        accept=("import_error",),
        files=trainer("tqdm", "import fused_ops"),
        prepare=_library_gone,
    ),
    Job(
        name="abi_missing_init_function",
        reason="abi_mismatch",
        cause=("dynamic module does not define module export function",),
        accept=("import_error",),
        files=trainer("print", "import fused_ops"),
        prepare=_no_module,
    ),
    Job(
        name="compile_extension_broken",
        reason="compile_error",
        cause=("Error building extension", "error: ", "ninja: build stopped"),
        files=trainer(
            "print",
            _BUILD.format(
                source="int half(int x) {{ return x / tvvo; }}".replace("{{", "{").replace(
                    "}}", "}"
                )
            ),
        ),
    ),
    Job(
        name="compile_no_compiler_for_inductor",
        reason="compile_error",
        cause=("InvalidCxxCompiler", "No working C++ compiler found"),
        files=trainer("caught", _NO_COMPILER),
        env={"CXX": "/nonexistent/g++", "TORCHINDUCTOR_CACHE_DIR": "cache"},
    ),
    Job(
        name="compile_make_fails",
        reason="compile_error",
        cause=("error:", "Error 1"),
        files={
            "ops.c": "int main(void) { return missing_thing; }\n",
            "Makefile": "ops: ops.c\n\tgcc -O2 -o ops ops.c\n",
            "job.sh": "set -e\necho 'building kernels'\nmake ops\n./ops\n",
        },
        command="bash job.sh",
    ),
    Job(
        name="compile_nvcc_fails",
        reason="compile_error",
        cause=('identifier "undefined_index" is undefined', "error detected in the compilation"),
        files={
            "scan.cu": "__global__ void scan(float *x) { x[undefined_index] = 1.0f; }\nint main() {}\n",
            "job.sh": "set -e\necho 'building CUDA kernels with nvcc'\nnvcc -ptx -o scan.ptx scan.cu\n",
        },
        command="bash job.sh",
    ),
    _cuda("driver_says_ecc", "gpu_ecc", "uncorrectable ECC error encountered", 214),
    _cuda("driver_says_not_initialised", "nvlink", "Error 802: system not yet initialized", 802),
    _cuda(
        "driver_combination",
        "driver_mismatch",
        "Error 803: system has unsupported display driver",
        803,
    ),
    _cuda(
        "driver_too_old", "driver_mismatch", "The NVIDIA driver on your system is too old", 0, 11040
    ),
    _cuda(
        "driver_sees_no_gpu", "gpu_lost", "No CUDA GPUs are available", 100, accept=("cuda_error",)
    ),
    _cuda(
        "driver_unknown_error",
        "cuda_error",
        "CUDA unknown error",
        999,
        accept=("gpu_lost", "gpu_hardware", "driver_mismatch"),
    ),
    Job(
        name="signal_term_from_outside",
        reason="killed",
        cause=("Terminated",),
        accept=("cancelled", "preempted"),
        files=trainer(
            "print", "import time\n\n\ndef step(state, i):\n    time.sleep(0.2)\n    return 1"
        ),
        command="bash job.sh & sleep 2.5; pkill -TERM -P $! python; wait $!",
    ),
    Job(
        name="signal_kill_from_outside",
        reason="killed",
        cause=(),
        accept=("host_oom",),
        files=trainer(
            "logging", "import time\n\n\ndef step(state, i):\n    time.sleep(0.2)\n    return 1"
        ),
        run=killed_after(2.5, signal.SIGKILL, "exec python -u train.py"),
    ),
    Job(
        name="signal_interrupt_by_user",
        reason="cancelled",
        cause=("KeyboardInterrupt",),
        files=trainer(
            "tqdm", "import time\n\n\ndef step(state, i):\n    time.sleep(0.2)\n    return 1"
        ),
        run=killed_after(3, signal.SIGINT, "exec python -u train.py"),
    ),
    Job(
        name="own_timeout_command",
        reason="time_limit",
        cause=(),
        accept=("killed", "unknown", "cancelled"),
        files=trainer(
            "print", "import time\n\n\ndef step(state, i):\n    time.sleep(0.3)\n    return 1"
        ),
        command="echo '+ timeout 3 python -u train.py'; timeout 3 python -u train.py",
    ),
]

if __name__ == "__main__":
    main(JOBS)
