"""Code that does not compile: extensions, kernels and graphs."""

import re

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_GOING_ON = LazyPattern(
    r"\b(?:fall(?:ing|s|en)? back|fallback|skipp(?:ed|ing)|ignor(?:ed|ing)|suppress\w{0,8}"
    r"|autotun\w{1,8}|will be eager)\b",
    re.IGNORECASE,
)

RULES = (
    Rule(
        # the reason stands in the chain below it; these only name the place
        name="torch-dynamo",
        reason="compile_error",
        pattern=LazyPattern(r"^torch\._dynamo\.exc\.(?:TorchRuntimeError|Observed\w{1,40})"),
        errors_only=True,
        confidence=0.45,
        weight=Weight.SYMPTOM,
        positives=("torch._dynamo.exc.TorchRuntimeError: Failed running call_function <x>:",),
        negatives=("torch._dynamo.exc.Unsupported: call_method",),
    ),
    Rule(
        name="torch-inductor",
        reason="compile_error",
        pattern=LazyPattern(
            r"torch\._(?:inductor|dynamo)\.exc\.\w{1,60}|BackendCompilerFailed|InductorError"
            r"|triton\.[\w.]{0,60}(?:CompilationError|CompileTimeAssertionFailure|PTXASError)"
            r"|\bOutOfResources: out of resource|Internal Triton PTX codegen error"
            r"|PassManager::run failed|PTXAS error|\bCppCompileError\b|C\+\+ compile error"
            r"|Error building extension '|Error compiling objects for extension"
            r"|Ninja is required to load C\+\+ extensions|No working C\+\+ compiler found"
            r"|Failed to find C compiler|Cannot find a working triton installation"
            r"|Unable to JIT load the \w{1,60} op|CUDA_HOME environment variable is not set"
            r"|does not match the version torch was compiled with"
            r"|mismatches the version that was used"
            r"|does not match the version used to compile [Pp]y[Tt]orch"
            r"|not (?:yet )?supported for torch\.compile|Dynamo is not supported on"
            r"|[`']?ptxas[`']? (?:failed|exited|returned|died)|to (?:launch|find|run|invoke"
            r"|execute) ptxas"
            r"|NVRTC_ERROR_\w{1,40}|nvrtc: error: |\bCompileException\b|Graph compile failed"
            r"|(?:Nvvm|NvvmSupport|Lowering|Typing)Error: .{0,40}(?:nopython|compile"
            r"|libNVVM|[Ll]ower)"
            r"|[Bb]uild(?:ing)? TensorRT engine|Failed in nopython mode"
            r"|torch\.jit\.frontend\.\w{1,40}Error"
            r"|Command '\[?'?(?:\S{0,120}/)?(?:ninja|gcc|g\+\+|clang\+{0,2}|nvcc|cc|c\+\+"
            r"|cmake|make|hipcc)\b"
        ),
        unless=_GOING_ON,
        errors_only=True,
        confidence=0.9,
        positives=(
            "RuntimeError: Error building extension 'fused_adam'",
            "triton.compiler.errors.CompilationError: at 12:8:",
            "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:",
            "torch._dynamo.exc.Unsupported: call_function BuiltinVariable(print) [ConstantVar]",
            (
                "torch._inductor.exc.InductorError: CalledProcessError: Command "
                "'['/usr/bin/gcc', 'a.c']'"
            ),
            (
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, "
                "Required: 131072,"
            ),
            "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error",
            (
                "subprocess.CalledProcessError: Command '['ninja', '-v']' returned "
                "non-zero exit status 1."
            ),
            (
                "subprocess.CalledProcessError: Command '['/usr/bin/gcc', "
                "'/tmp/x/main.c', '-O3', '-I/x"
            ),
            "RuntimeError: PassManager::run failed",
            "RuntimeError: `ptxas` failed with error code 255: line 33; error : Feature '.bf16'",
            (
                "OSError: CUDA_HOME environment variable is not set. Please set it to "
                "your CUDA install"
            ),
            (
                "RuntimeError: The detected CUDA version (11.8) mismatches the version "
                "that was used to"
            ),
            "RuntimeError: Ninja is required to load C++ extensions",
            "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.",
            "cupy.cuda.compiler.CompileException: /x.cu(3): error: identifier y is undefined",
            "RuntimeError: Unable to JIT load the async_io op due to it not being compatible",
            "RuntimeError: [Error thrown at ConversionCtx.cpp:149] Building TensorRT engine failed",
            "RuntimeError: Graph compile failed. synStatus=synStatus 26 [Generic failure].",
        ),
        negatives=(
            "RuntimeError: compile first",
            "subprocess.CalledProcessError: Command '['python', 'train.py']' returned non-zero",
        ),
    ),
    Rule(
        name="xla-compiler",
        reason="compile_error",
        pattern=LazyPattern(
            r"(?:XlaRuntimeError|JaxRuntimeError|InternalError|INTERNAL|UNIMPLEMENTED).{0,120}"
            r"(?:[Ff]ailed to compile|[Cc]ompil(?:ation|ing) |libdevice|LLVM)"
        ),
        unless=_GOING_ON,
        errors_only=True,
        confidence=0.88,
        positives=(
            (
                "tensorflow.python.framework.errors_impl.InternalError: libdevice not found at "
                "./libdevice.10.bc"
            ),
            "jax.errors.JaxRuntimeError: UNIMPLEMENTED: Failed to compile fusion",
        ),
        negatives=(
            "XlaRuntimeError: INTERNAL: the stream did not block",
            "RuntimeError: INTERNAL: the provided PTX was compiled with an unsupported toolchain.",
        ),
    ),
    Rule(
        # compilers, which raise no exception
        name="native-compiler",
        reason="compile_error",
        pattern=LazyPattern(
            r"^(?:\S{0,80}/)?(?:gcc|g\+\+|clang(?:\+\+)?|cc|c\+\+|nvcc|hipcc|icpx"
            r"|ld)(?:-[\d.]{1,5})?: "
            r"(?:fatal )?error: |^nvcc fatal +: |^ptxas (?:fatal|error) +: "
            r"|^ptxas .{1,300}; error {1,4}: |ptxas returned an error|^LLVM ERROR: "
            r"|/ld: cannot find -l"
            r"|^\s{0,12}[^\s]{1,200}\.(?:cu|cuh|cpp|cc|cxx|c|h|hpp|hip):\d{1,6}:(?:\d{1,5}:)? fatal"
            r" error: "
            r"|^\s{0,12}[^\s]{1,200}\.(?:cu|cuh|h|hip)\(\d{1,6}\): (?:fatal )?error"
            r"|^\s{0,12}[^\s]{1,200}\.(?:cu|cuh|cpp|cc|cxx|c|h|hpp|hip):\d{1,6}:\d{1,5}: error: "
            r"|^CMake Error(?::| at )|ptxas exited with non-zero error|Mosaic failed to compile"
            r"|\bInvalidIRError\b|resulted in invalid LLVM IR"
            r"|^Internal Triton PTX codegen error|\blibdevice(?:\.10\.bc)? not found at"
        ),
        unless=_GOING_ON,
        confidence=0.88,
        positives=(
            "csrc/ops.cu:3:10: fatal error: cuda_runtime.h: No such file or directory",
            "ptxas /tmp/x.ptx, line 33; error   : Feature '.bf16' requires .target sm_80 or higher",
            "F nvptx_compiler.cc:602] ptxas returned an error during compilation of ptx to sass",
            "/scratch/tmpab/main.c:4:10: fatal error: Python.h: No such file or directory",
            "csrc/ops.cu(42): error: identifier foo is undefined",
            '    csrc/type_shim.h(13): error: class "at::Type" has no member "scalarType"',
            "/usr/bin/ld: cannot find -lcuda: No such file or directory",
            "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32",
            "gcc: fatal error: cannot execute 'cc1plus': execvp: No such file or directory",
            "CMake Error at CMakeLists.txt:4 (find_package):",
            "libdevice not found at ./libdevice.10.bc",
            "ERROR: LoadError: InvalidIRError: compiling #23(CuKernelState) resulted in invalid",
            "Status: INTERNAL: ptxas exited with non-zero error code 139, output:  - Failure",
            "jax.errors.JaxRuntimeError: INTERNAL: Mosaic failed to compile TPU kernel: bad",
        ),
        negatives=(
            "train.py: error: unrecognized arguments: --x",
            "compile of graph 3 failed, falling back to eager",
            "csrc/ops.cu:3:10: warning: unused variable",
        ),
    ),
    Rule(
        # build tools, which only report that a compiler failed
        name="build-stopped",
        reason="compile_error",
        pattern=LazyPattern(
            r"^ninja: build stopped: |\bcollect2: error: ld returned"
            r"|^ {0,8}error: command '[^']{1,200}' failed"
            r"|^make(?:\[\d\])?: \*\*\* .{1,200} Error \d|^ {0,4}ERROR: Failed building wheel for "
            r"|^(?:ERROR: )?(?:Could not|Failed to) build (?:wheels|installable wheels) for "
            r"|^ {0,4}. .{0,80}did not run successfully|^error: metadata-generation-failed"
            r"|^FAILED: \S{1,200}\.(?:o|so|cuda\.o)\b"
        ),
        unless=_GOING_ON,
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(
            "ninja: build stopped: subcommand failed.",
            "error: command '/usr/bin/gcc' failed with exit code 1",
            "error: command 'x86_64-linux-gnu-gcc' failed: No such file or directory",
            "collect2: error: ld returned 1 exit status",
            "  ERROR: Failed building wheel for flash-attn",
            "make: *** [Makefile:12: all] Error 2",
            "FAILED: multi_tensor_adam.cuda.o",
            (
                "error: command 'C:\\\\Program Files\\\\CUDA\\\\bin\\\\nvcc.exe' failed "
                "with exit code 1"
            ),
        ),
        negatives=("error: command 'ls' is slow", "make: Nothing to be done for 'all'."),
    ),
)
