"""Errors of programs that are not Python: shells, Julia, R, the JVM, Go, Rust, MATLAB."""

from schedmate.handler.rules.base import LazyPattern, Rule, any_of

_JULIA = r"^ERROR: (?:LoadError: |TaskFailedException\S{0,20} ?){0,3}"
_R = r"^Error(?: in .{1,120}?)? ?: (?:.{0,120}: )?"
_JVM = r"^(?:Exception in thread \"[^\"]{1,80}\" |Caused by: )(?:[\w.$]{1,160}[.$])?"
_SHELL = r"^\S{1,200}: (?:-c: )?(?:line )?\d{1,6}: "

RULES = (
    Rule(
        name="shell",
        reason="syntax_error",
        pattern=any_of(
            _SHELL + r"(?:syntax error|unexpected EOF while looking for|[Bb]ad substitution)",
            _SHELL + r"(?:Syntax error: |.{1,80}: bad substitution|conditional binary operator)",
            _JULIA + r"(?:syntax: |ParseError)",
            r"^Error: unexpected (?:symbol|end of input|string constant|'.{1,4}') in ",
        ),
        confidence=0.93,
        positives=(
            "run.sh: line 12: syntax error near unexpected token `fi'",
            "run.sh: line 9: unexpected EOF while looking for matching `\"'",
            "/bin/sh: 1: Syntax error: Unterminated quoted string",
            "run.sh: 3: Bad substitution",
            "bash: -c: line 3: syntax error: unexpected end of file",
            'ERROR: LoadError: syntax: incomplete: "function" at /x/train.jl:3 requires end',
            'Error: unexpected symbol in "x y"',
        ),
        negatives=("syntax errors: 0", "a.py: line 3: unexpected value, going on"),
    ),
    Rule(
        name="shell",
        reason="name_error",
        pattern=any_of(
            _SHELL + r"\$?[\w\[\]{}@*!#?-]{1,80}: (?:unbound variable|parameter not set)$",
            _JULIA + r"UndefVarError",
            _R + r"(?:object '[^']{1,80}' not found|could not find function)",
            r"^(?:Error: )?(?:Undefined|Unrecognized) function or variable '",
        ),
        confidence=0.9,
        positives=(
            "run.sh: line 3: DATA_DIR: unbound variable",
            "run.sh: 4: DATA_DIR: parameter not set",
            "ERROR: LoadError: UndefVarError: lrr not defined",
            "Error in train(x) : object 'lrr' not found",
            'Error in fit(x) : could not find function "fitt"',
            "Unrecognized function or variable 'lrr'.",
        ),
        negatives=("unbound variable check: off", "object 'x' not found in cache"),
    ),
    Rule(
        name="r-or-julia",
        reason="import_error",
        pattern=any_of(
            r"there is no package called",
            _JULIA + r"ArgumentError: Package \S{1,80} (?:not found|\[)",
            _JVM + r"(?:ClassNotFoundException|NoClassDefFoundError)",
            r"^Error: Could not find or load main class |^Error: Cannot find module '",
        ),
        confidence=0.92,
        positives=(
            "Error in library(torch) : there is no package called torch",
            "ERROR: LoadError: ArgumentError: Package Flux not found in current path.",
            'Exception in thread "main" java.lang.ClassNotFoundException: org.x.Train',
            "Error: Could not find or load main class Train",
        ),
        negatives=("loading package torch", "Caused by: nothing"),
    ),
    Rule(
        name="r-or-julia",
        reason="host_oom",
        pattern=any_of(
            _R + r"cannot allocate vector of size",
            _JULIA + r"OutOfMemoryError\(\)",
            r"^fatal error: runtime: out of memory$",
        ),
        confidence=0.92,
        positives=(
            "Error: cannot allocate vector of size 7.5 Gb",
            "ERROR: LoadError: OutOfMemoryError()",
            "fatal error: runtime: out of memory",
        ),
        negatives=("Java heap space: 4 GB", "OutOfMemoryError handler installed"),
    ),
    Rule(
        name="r-or-julia",
        reason="file_not_found",
        pattern=any_of(
            _JULIA
            + r"(?:SystemError: opening file|IOError: .{0,160}no such file|could not open file)",
            _R + r"(?:cannot open (?:the connection|file)|.{0,80}does not exist)",
            _JVM + r"(?:FileNotFoundException|NoSuchFileException)",
            r"^Error: ENOENT: no such file|^Unable to open file '.{1,200}'\.$",
        ),
        confidence=0.9,
        positives=(
            'ERROR: LoadError: SystemError: opening file "data.jld": No such file or directory',
            'Error in file(file, "rt") : cannot open the connection',
            'Exception in thread "main" java.io.FileNotFoundException: conf.xml',
            "Error: ENOENT: no such file or directory, open 'data.json'",
        ),
        negatives=("opening file data.jld", "cannot open the window"),
    ),
    Rule(
        name="r-or-julia",
        reason="shape_mismatch",
        pattern=any_of(
            _JULIA + r"DimensionMismatch",
            _R + r"(?:non-conformable|incorrect number of dimensions|arguments imply differing)",
            r"^(?:Matrix dimensions must agree|Inner matrix dimensions must agree"
            r"|Incorrect dimensions for matrix multiplication"
            r"|Arrays have incompatible sizes for this operation)",
        ),
        confidence=0.92,
        positives=(
            'ERROR: LoadError: DimensionMismatch("A has dimensions (3,4) but B has (3,4)")',
            "Error in a %*% b : non-conformable arguments",
            "Matrix dimensions must agree.",
        ),
        negatives=("dimensions must agree with the plan", "DimensionMismatch check: off"),
    ),
    Rule(
        name="r-or-julia",
        reason="index_error",
        pattern=any_of(
            _JULIA + r"BoundsError",
            _R + r"subscript out of bounds",
            _JVM + r"(?:Array|String)?IndexOutOfBoundsException",
            r"^panic: runtime error: (?:index|slice bounds) out of range",
            r"^(?:Index exceeds (?:the number of array elements|matrix dimensions|array bounds))",
            r"^thread '.{1,60}' panicked at .{0,200}index out of bounds",
        ),
        confidence=0.92,
        positives=(
            "ERROR: LoadError: BoundsError: attempt to access 3-element Vector{Int64} at index [4]",
            "Error in x[[4]] : subscript out of bounds",
            'Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: 3',
            "panic: runtime error: index out of range [3] with length 3",
            "thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 3'",
        ),
        negatives=("bounds: out of 3", "values out of bounds were clipped"),
    ),
    Rule(
        name="r-or-julia",
        reason="type_error",
        pattern=any_of(
            _JULIA + r"(?:MethodError|TypeError)",
            _R + r"(?:non-numeric argument|invalid '?\w{1,20}'? (?:type|argument))",
            _JVM + r"ClassCastException",
        ),
        confidence=0.88,
        positives=(
            "ERROR: LoadError: MethodError: no method matching train(::String)",
            "Error in 1 + x : non-numeric argument to binary operator",
            'Exception in thread "main" java.lang.ClassCastException: A cannot be cast to B',
        ),
        negatives=("MethodError: 0", "non-numeric arguments are ignored"),
    ),
    Rule(
        name="r-or-julia",
        reason="python_exception",
        pattern=any_of(
            r"^ERROR: (?:LoadError|TaskFailedException|CompositeException)\b",
            r"^Error in .{1,160} : ?\S?",
            _JVM + r"\w{1,80}(?:Exception|Error)\b",
            r"^panic: |^thread '.{1,80}' panicked at |^fatal error: all goroutines are asleep",
            r"^goroutine \d{1,9} \[running\]:$|^Uncaught (?:\w{1,40}Error|exception)",
            r"^(?:Error using|Error in function) \S{1,80}|^Execution halted$",
        ),
        unless=LazyPattern(r"recover"),
        confidence=0.6,
        positives=(
            "ERROR: LoadError: AssertionError: n > 0",
            "Error in train(x) : the model did not converge",
            'Exception in thread "main" java.lang.IllegalStateException: closed',
            "panic: assignment to entry in nil map",
            "thread 'main' panicked at src/main.rs:3:5:",
            "Execution halted",
        ),
        negatives=("ERROR: 3 tests", "panic: recovered by the server", "Error in 3 of 10 samples"),
    ),
)
