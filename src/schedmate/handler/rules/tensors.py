"""Tensors that do not fit each other: device, dtype, shape."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
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
)
