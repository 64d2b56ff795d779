"""Native code: binaries that do not fit each other, and code that does not compile."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
    Rule(
        reason="abi_mismatch",
        pattern=re.compile(
            r"undefined symbol: |wrong ELF class|GLIBC(?:XX)?_[\d.]{1,12}' not found"
            r"|numpy\.(?:dtype|ndarray) size changed|_ARRAY_API not found"
        ),
        errors_only=True,
        confidence=0.92,
        positives=(
            "ImportError: /x/flash_attn.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
            "ValueError: numpy.dtype size changed, may indicate binary incompatibility.",
        ),
        negatives=("ImportError: cannot import name 'x' from 'y'",),
    ),
    Rule(
        reason="compile_error",
        pattern=re.compile(
            r"^(?:torch\._(?:inductor|dynamo)\.exc\.\S{1,60}|triton\.\S{0,60}CompilationError)"
            r"|BackendCompilerFailed|Error building extension '"
            r"|Error compiling objects for extension"
            r"|XlaRuntimeError: .{0,80}[Cc]ompil"
        ),
        errors_only=True,
        confidence=0.9,
        positives=(
            "RuntimeError: Error building extension 'fused_adam'",
            "triton.compiler.errors.CompilationError: at 12:8:",
        ),
        negatives=("RuntimeError: compile first",),
    ),
)
