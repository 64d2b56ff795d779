"""Exceptions known by their type, or by the words in its name; asked last."""

from schedmate.handler.rules.base import LazyPattern, Rule, by_name

_EXCEPTION = r"(?:Error|Exception|Failure|Fault)"


def _by_class_name(
    reason: str, words: str, *positives: str, confidence: float, unlike: str
) -> Rule:
    """An unknown exception class, read by its name."""
    return Rule(
        name="class-name",
        reason=reason,
        pattern=LazyPattern(rf"^(?:[\w.]{{1,120}}\.)?\w{{0,60}}(?:{words})(?::|$)"),
        errors_only=True,
        confidence=confidence,
        positives=positives,
        negatives=(unlike, f"no {positives[0]}"),
    )


MESSAGES = (
    Rule(
        name="message",
        reason="index_error",
        pattern=LazyPattern(
            r"index out of range in self|index -?\d{1,12} is out of (?:bounds|range)"
            r"|indices\[.{1,40}\] = -?\d{1,12} is not in \[|selected index k out of range"
            r"|exceeds dimension size|index_select\(\): .{0,60}out of range"
            r"|(?:list|tuple|string) index out of range|[Ii]ndex .{0,40}out of bounds"
        ),
        errors_only=True,
        confidence=0.88,
        positives=(
            "IndexError: index out of range in self",
            (
                "tensorflow.python.framework.errors_impl.InvalidArgumentError: indices[0,3] "
                "= 30522 "
                "is not in [0, 30522)"
            ),
            "RuntimeError: start (600) + length (1) exceeds dimension size (512).",
            "RuntimeError: selected index k out of range",
            "IndexError: index 10 is out of bounds for axis 0 with size 10",
            "IndexError: list index out of range",
        ),
        negatives=("RuntimeError: the index is fine", "ValueError: out of range"),
    ),
)

RULES = (
    by_name(
        "name_error",
        "NameError",
        "UnboundLocalError",
        examples=("name 'x' is not defined", "free variable 'x' referenced before assignment"),
    ),
    by_name(
        "attribute_error",
        "AttributeError",
        examples=(
            "'x' object has no attribute 'y'",
            "module 'numpy' has no attribute 'bool'",
            "Can't pickle local object 'main.<locals>.collate'",
            "'NoneType' object has no attribute 'shape'",
        ),
    ),
    by_name(
        "type_error",
        "TypeError",
        "UFuncTypeError",
        "ConcretizationTypeError",
        examples=(
            "f() missing 1 required positional argument: 'x'",
            "Trainer.__init__() got an unexpected keyword argument 'tokenizer'",
            "unsupported operand type(s) for +: 'int' and 'str'",
            "'NoneType' object is not subscriptable",
            "cannot pickle '_io.TextIOWrapper' object",
        ),
    ),
    by_name(
        "value_error",
        "ValueError",
        examples=(
            "not enough values to unpack",
            "Unknown optimizer: adamx",
            "invalid literal for int() with base 10: 'a'",
            "optimizer got an empty parameter list",
            "Unrecognized configuration class <class 'A'> for this kind of AutoModel: A",
        ),
    ),
    by_name("key_error", "KeyError", examples=("'warmup_steps'", "'lr'", "0", "'labels'")),
    by_name("index_error", "IndexError", examples=("Dimension out of range", "pop from empty")),
    by_name(
        "zero_division",
        "ZeroDivisionError",
        confidence=0.95,
        examples=("division by zero", "float division by zero", "integer modulo by zero"),
    ),
    by_name(
        "assertion_error",
        "AssertionError",
        examples=("batch size 30 != 32", "", "Invalid device id"),
    ),
    _by_class_name(
        "shape_mismatch",
        rf"(?:Shape|Dimension|Rank)\w{{0,20}}{_EXCEPTION}",
        "mylib.ShapeError: 3 against 4",
        "core.DimensionMismatchError",
        confidence=0.7,
        unlike="mylib.ShopError: closed",
    ),
    _by_class_name(
        "auth_error",
        (
            rf"(?:Auth|Login|Credential|ApiKey|APIKey|Token(?:Missing|Expired)"
            rf"|License)\w{{0,20}}{_EXCEPTION}"
        ),
        "hub.LoginRequiredException: log in first",
        "gurobipy.LicenseError: no license",
        confidence=0.65,
        unlike="hub.LogError: full",
    ),
    _by_class_name(
        "permission_denied",
        rf"(?:Permission|AccessDenied)\w{{0,20}}{_EXCEPTION}?",
        "store.PermissionViolationError: not yours",
        confidence=0.65,
        unlike="store.PermanentError: for ever",
    ),
    _by_class_name(
        "file_not_found",
        (
            rf"(?:NotFound|Missing(?:File|Data|Path)\w{{0,20}}|NoSuch\w{{1,20}}"
            rf"|DoesNotExist){_EXCEPTION}?"
        ),
        "zoo.ModelNotFoundError: resnet19",
        "store.NoSuchObject: x",
        "data.MissingFileError: a.bin",
        confidence=0.55,
        unlike="zoo.FoundError: two",
    ),
    _by_class_name(
        "service_unreachable",
        (
            rf"(?:Connection|Connect|Unavailable|Unreachable|ServerError|Gateway"
            rf"|Network)\w{{0,20}}{_EXCEPTION}"
        ),
        "tracker.ServerUnavailableException: 10.0.0.1",
        "lib.ConnectionFailedError: no answer",
        confidence=0.45,
        unlike="lib.ConnErr: red",
    ),
    _by_class_name(
        "argument_error",
        (
            rf"(?:Config|Parameter|Invalid(?:Option|Value|Setting|Input)"
            rf"|Registry)\w{{0,20}}{_EXCEPTION}"
        ),
        "tool.InvalidInputError: depth",
        "lib.ParameterError: alpha must be positive",
        confidence=0.6,
        unlike="lib.ConfidenceLow: 3",
    ),
    _by_class_name(
        "data_error",
        rf"(?:Data|Dataset|Decod\w{{1,5}}|Pars\w{{1,5}}|Corrupt\w{{0,4}}|Format|Malformed"
        rf"|Record|Sample"
        rf"|Image|Audio|Video|Annotation|Label)\w{{0,20}}{_EXCEPTION}",
        "lib.MalformedRecordError: row 3",
        "lib.DatasetBuildError: no split",
        confidence=0.55,
        unlike="lib.DateError: 31 February",
    ),
    _by_class_name(
        "type_error", r"TypeError", "tracing.BadTypeError: x", confidence=0.6, unlike="TypeErr: x"
    ),
    _by_class_name(
        "key_error", r"KeyError", "lib.MissingKeyError: x", confidence=0.6, unlike="KeyErr: x"
    ),
    _by_class_name(
        "index_error",
        r"(?:IndexError|OutOf(?:Range|Bounds)(?:Error|Exception)?)",
        "jax.errors.NonConcreteBooleanIndexError: x",
        "lib.OutOfBoundsError: 3",
        confidence=0.6,
        unlike="IndexErr: x",
    ),
    _by_class_name(
        "value_error",
        r"ValueError",
        "lib.NegativeValueError: -1",
        confidence=0.6,
        unlike="ValueErr: x",
    ),
    _by_class_name(
        "attribute_error",
        r"AttributeError",
        "lib.LazyAttributeError: y",
        confidence=0.6,
        unlike="AttributeErr: x",
    ),
    _by_class_name(
        "assertion_error",
        r"(?:AssertionError|AssertError|AssertionFailed)",
        "lib.HardAssertionError: no",
        confidence=0.6,
        unlike="AssertErr: x",
    ),
    Rule(
        name="any-exception",
        reason="python_exception",
        pattern=LazyPattern(r"^[A-Za-z_][\w.]{0,200}(?:\([\w.]{1,100}\))?(?::|$)"),
        errors_only=True,
        confidence=0.7,
        positives=(
            "RuntimeError: anything",
            "mylib.errors.OutOfLuck: try again",
            "tensorflow.python.framework.errors_impl.InvalidArgumentError: bad luck [Op:Cast]",
            "NotImplementedError",
            "RecursionError: maximum recursion depth exceeded",
            "StopIteration",
        ),
        negatives=("42: no exception", "- RuntimeError"),
    ),
)
