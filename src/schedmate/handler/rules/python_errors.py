"""Exceptions of the job's own code: first what the message says, then what the type says."""

import re

from schedmate.handler.rules.base import Rule


def _named(reason: str, *types: str, example: str, confidence: float = 0.85) -> Rule:
    """An exception known by its type alone."""
    names = "|".join(types)
    return Rule(
        reason=reason,
        pattern=re.compile(rf"^(?:[\w.]{{1,120}}\.)?(?:{names})(?::|$)"),
        errors_only=True,
        confidence=confidence,
        positives=(types[0], f"{types[0]}: {example}"),
        negatives=(f"no {types[0]} here",),
    )


_ARGUMENTS = (
    Rule(
        reason="argument_error",
        pattern=re.compile(
            r"^\S{1,200}(?: [\w\-]{1,40})?: error: (?:unrecognized arguments|ambiguous option"
            r"|the following arguments are required|one of the arguments|argument \S"
            r"|invalid choice)"
            r"|^Error: (?:No such (?:option|command)|Missing (?:option|argument|parameter)"
            r"|Invalid value for|Got unexpected extra argument)"
        ),
        confidence=0.95,
        positives=(
            "train.py: error: unrecognized arguments: --epochz 3",
            "train.py: error: argument --lr: invalid float value: 'fast'",
            "Error: No such option: --epochz",
        ),
        negatives=("validation error: 0.31", "train.py: error: 0.2"),
    ),
    Rule(
        reason="argument_error",
        pattern=re.compile(
            r"ConfigCompositionException|ConfigAttributeError|ConfigKeyError|MissingConfigException"
            r"|MissingMandatoryValue|ValidationError: \d{1,4} validation error"
            r"|^yaml\.(?:scanner|parser|constructor|composer)\.\w{1,40}Error"
            r"|TOMLDecodeError|Could not override '"
        ),
        errors_only=True,
        confidence=0.92,
        positives=(
            "omegaconf.errors.ConfigAttributeError: Key 'lrr' is not in struct",
            "yaml.scanner.ScannerError: mapping values are not allowed here",
        ),
        negatives=("KeyError: 'config'",),
    ),
)

_ENVIRONMENT = (
    _named("import_error", "ModuleNotFoundError", "ImportError", example="No module named 'x'"),
    _named("syntax_error", "SyntaxError", "IndentationError", "TabError", example="invalid syntax"),
)

_TENSORS = (
    Rule(
        reason="device_mismatch",
        pattern=re.compile(
            r"[Ee]xpected all tensors to be on the same device"
            r"|Input type \(\S{1,60}\) and weight type \(torch\.cuda\."
        ),
        errors_only=True,
        confidence=0.96,
        positives=(
            (
                "RuntimeError: Expected all tensors to be on the same device, but found at least "
                "two devices, cuda:0 and cpu!"
            ),
        ),
        negatives=("RuntimeError: all tensors are on cuda:0",),
    ),
    Rule(
        reason="dtype_mismatch",
        pattern=re.compile(
            r"expected (?:scalar type|m1 and m2 to have the same dtype|dtype)"
            r"|must have the same dtype|Input type \(\S{1,60}\) and (?:bias|weight) type"
            r"|not implemented for '(?:Half|BFloat16|Long|Int|Bool|Float8\w{0,12})'"
        ),
        errors_only=True,
        confidence=0.94,
        positives=(
            "RuntimeError: expected scalar type Float but found Half",
            "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half",
        ),
        negatives=("TypeError: expected str, bytes or os.PathLike object, not NoneType",),
    ),
    Rule(
        reason="shape_mismatch",
        pattern=re.compile(
            r"mat1 and mat2 shapes cannot be multiplied"
            r"|The size of tensor a \(\d{1,12}\) must match"
            r"|Sizes of tensors must match|could not be broadcast together"
            r"|cannot reshape array of size|shape '\[[\d, \-]{1,80}\]' is invalid for input of size"
            r"|matmul: Input operand \d has a mismatch|shapes .{1,60} not aligned|size mismatch, m1"
            r"|all the input array dimensions|setting an array element with a sequence"
            r"|Expected input batch_size \(\d{1,9}\) to match target|Incompatible shapes"
        ),
        errors_only=True,
        confidence=0.94,
        positives=(
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)",
            "ValueError: operands could not be broadcast together with shapes (3,) (4,) ",
            "ValueError: shapes (3,4) and (3,4) not aligned: 4 (dim 1) != 3 (dim 0)",
            "ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0",
        ),
        negatives=("ValueError: the shape of things to come",),
    ),
    Rule(
        reason="autograd_error",
        pattern=re.compile(
            r"backward through the graph a second time|does not require grad and does not have a"
            r"|modified by an inplace operation|Expected to have finished reduction in the prior"
        ),
        errors_only=True,
        confidence=0.95,
        positives=(
            "RuntimeError: Trying to backward through the graph a second time",
            "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        ),
        negatives=("RuntimeError: no gradient",),
    ),
)

_DATA = (
    Rule(
        reason="data_error",
        pattern=re.compile(
            r"^(?:[\w.]{1,120}\.)?(?:UnidentifiedImageError|JSONDecodeError|UnicodeDecodeError"
            r"|ParserError|EmptyDataError|ArrowInvalid|BadZipFile)(?::|$)"
            r"|num_samples should be a positive integer|could not convert string to float"
            r"|image file is truncated|Dataset is empty"
        ),
        errors_only=True,
        confidence=0.85,
        positives=(
            "PIL.UnidentifiedImageError: cannot identify image file 'x.jpg'",
            "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
            "ValueError: num_samples should be a positive integer value, but got num_samples=0",
        ),
        negatives=("ValueError: num_samples",),
    ),
    _named("file_not_found", "FileNotFoundError", "NotADirectoryError", example="[Errno 2] 'x'"),
    _named("permission_denied", "PermissionError", example="[Errno 13] Permission denied: 'x'"),
)

_TYPES = (
    _named("name_error", "NameError", "UnboundLocalError", example="name 'x' is not defined"),
    _named("attribute_error", "AttributeError", example="'x' object has no attribute 'y'"),
    _named("type_error", "TypeError", example="f() missing 1 required positional argument: 'x'"),
    _named("value_error", "ValueError", example="not enough values to unpack"),
    _named("key_error", "KeyError", example="'warmup_steps'"),
    _named("index_error", "IndexError", example="list index out of range"),
    _named("zero_division", "ZeroDivisionError", example="division by zero"),
    _named("assertion_error", "AssertionError", example="batch size 30 != 32"),
    Rule(
        reason="python_exception",
        pattern=re.compile(r"^[A-Za-z_][\w.]{0,200}(?::|$)"),
        errors_only=True,
        confidence=0.7,
        positives=("RuntimeError: anything", "mylib.errors.OutOfLuck: try again"),
        negatives=("42: no exception",),
    ),
)

RULES = (*_ARGUMENTS, *_ENVIRONMENT, *_TENSORS, *_DATA, *_TYPES)
