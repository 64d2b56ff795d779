"""Binaries that do not fit each other, or are not there."""

from schedmate.handler.rules.base import LazyPattern, Rule

RULES = (
    Rule(
        name="undefined-symbol",
        reason="abi_mismatch",
        pattern=LazyPattern(
            r"undefined symbol: |symbol lookup error: |wrong ELF class|invalid ELF header"
            r"|\.so[\d.]{0,12}: file too short|[Ee]xec format error|\[Errno 8\]"
            r"|version `[A-Z][A-Za-z]{1,20}_[\d._]{1,16}' not found"
            r"|not defined in file \S{1,120} with link time reference"
            r"|GLIBC(?:XX)?_[\d.]{1,12}'? not found"
            r"|incompatible architecture \(have '|undefined reference to `?__cxa_\w{1,40}@"
        ),
        unless=LazyPattern(r"\b(?:ignor(?:ed|ing)|skipp(?:ed|ing)|fall(?:ing|s)? back)\b"),
        confidence=0.93,
        positives=(
            "ImportError: /x/flash_attn.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
            "python: symbol lookup error: /x/libtorch_cuda.so: undefined symbol: ncclCommRegister",
            "OSError: /x/libnvrtc.so: wrong ELF class: ELFCLASS32",
            "ImportError: /lib64/libc.so.6: version `GLIBC_2.32' not found (required by /x/_C.so)",
            (
                "ImportError: /lib/libstdc++.so.6: version `GLIBCXX_3.4.29' not found "
                "(required by /x.so)"
            ),
            "./train: /lib64/libm.so.6: version `GLIBC_2.29' not found (required by ./train)",
            (
                "ImportError: /lib/libstdc++.so.6: version `CXXABI_1.3.13' not found "
                "(required by /x.so)"
            ),
            "OSError: /x/libcublas.so.11: file too short",
            (
                "Could not load library libcudnn_cnn_infer.so.8. Error: "
                "/x/libcudnn_cnn_infer.so.8: "
                "symbol _ZN5cudnn not defined in file libcudnn_ops_infer.so.8 with link time "
                "reference"
            ),
            "bash: ./train: cannot execute binary file: Exec format error",
        ),
        negatives=(
            "ImportError: cannot import name 'x' from 'y'",
            "flash_attn: undefined symbol: _ZN3c10, falling back to sdpa",
            "yourself and the shelf",
        ),
    ),
    Rule(
        name="numpy-version",
        reason="abi_mismatch",
        pattern=LazyPattern(
            r"numpy\.\w{1,20} size changed|_ARRAY_API not found|Numpy is not available"
            r"|numpy\.(?:core|_core)\.(?:multiarray|umath) failed to import"
            r"|compiled using NumPy 1\.x cannot be run|compiled against (?:API|ABI) version"
            r"|[Bb]inary incompatib"
            r"|operator \w{1,40}::\w{1,60} does not exist|Couldn't load custom C\+\+ ops"
            r"|compiled with different CUDA (?:major )?versions|cuDNN version incompatibility"
            r"|needs to have matching major version|is newer than and incompatible with jax"
            r"|jaxlib is version .{1,40}, but this version of jax requires"
            r"|Descriptors cannot(?: not)? be created directly"
            r"|build proto file into descriptor pool"
            r"|incompatible Protobuf Gencode|has no attribute '_internal_create_key'"
            r"|CUDA VERSION MISMATCH"
            r"|compiled to use (?:AVX|SSE)\w{0,12} instructions, but these aren't available"
            r"|engine plan file is not compatible with this version of TensorRT"
            r"|Version tag does not match|'_OpNamespace' '\w{1,40}' object has no attribute"
            r"|CUDA Setup failed despite|was (?:built|compiled) (?:for|with"
            r"|against) (?:a )?different"
            r"|(?:built|compiled) (?:against|for|using) (?:NumPy|numpy|torch|PyTorch|Python) \d"
            r"|dynamic module does not define module export function"
        ),
        errors_only=True,
        confidence=0.88,
        positives=(
            "ValueError: numpy.dtype size changed, may indicate binary incompatibility.",
            "AttributeError: _ARRAY_API not found",
            "RuntimeError: Numpy is not available",
            "ImportError: numpy.core.multiarray failed to import",
            (
                "RuntimeError: module compiled against API version 0x10 but this version "
                "of numpy is 0xf"
            ),
            "RuntimeError: operator torchvision::nms does not exist",
            "ImportError: A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.0",
            "RuntimeError: Couldn't load custom C++ ops. This can happen if your PyTorch and",
            "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (8, 9, 2)",
            "TypeError: Descriptors cannot be created directly.",
            (
                "google.protobuf.runtime_version.VersionError: Detected incompatible "
                "Protobuf Gencode/Runtime"
            ),
            "RuntimeError: CUDA VERSION MISMATCH Requested CUDA version: 11.8",
            "TypeError: Couldn't build proto file into descriptor pool!",
            (
                "RuntimeError: jaxlib version 0.4.7 is newer than and incompatible with "
                "jax version 0.4.6"
            ),
            (
                "RuntimeError: Detected that PyTorch and torchvision were compiled with "
                "different CUDA major versions."
            ),
            "AttributeError: '_OpNamespace' '_C' object has no attribute 'rms_norm'",
        ),
        negatives=(
            "AttributeError: 'Net' object has no attribute 'x'",
            "RuntimeError: operator is missing",
        ),
    ),
    Rule(
        # a line of the C++ side; the Python side is vague or silent
        name="library-version",
        reason="abi_mismatch",
        pattern=LazyPattern(
            r"Loaded runtime CuDNN library: .{1,60} but source was compiled with"
            r"|library was compiled to use (?:AVX|SSE)\w{0,12} instructions, but these aren't"
            r"|engine plan file is not compatible with this version of TensorRT"
        ),
        confidence=0.8,
        positives=(
            (
                "E cuda_dnn.cc:336] Loaded runtime CuDNN library: 8.0.5 but source was compiled "
                "with: 8.1.0.  CuDNN library needs to have matching major version"
            ),
            (
                "F cpu.cc:37] The TensorFlow library was compiled to use AVX instructions, but "
                "these aren't available on your machine."
            ),
        ),
        negatives=("This TensorFlow binary is optimized to use available CPU instructions",),
    ),
    Rule(
        # a library that is not there at all fits nothing, but is no matter of versions
        name="shared-library",
        reason="import_error",
        pattern=LazyPattern(
            r"\blib[\w+\-]{1,60}\.so[\w.]{0,20}: cannot open shared object file"
            r"|error while loading shared libraries: |Library not loaded: "
        ),
        unless=LazyPattern(
            r"Could not load dynamic library|dlerror|\b(?:ignor(?:ed|ing)|skipp(?:ed|ing))\b"
        ),
        confidence=0.88,
        positives=(
            (
                "ImportError: libcudart.so.11.0: cannot open shared object file: No such "
                "file or directory"
            ),
            "OSError: libmpi.so.40: cannot open shared object file: No such file or directory",
            (
                "./a.out: error while loading shared libraries: libcudnn.so.8: cannot open "
                "shared object file: No such file or directory"
            ),
            "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        ),
        negatives=(
            (
                "I dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: "
                "libnvinfer.so.7: cannot open shared object file: No such file or directory"
            ),
            "libfoo.so opened",
        ),
    ),
)
