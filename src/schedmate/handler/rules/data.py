"""Samples and datasets that are not what the program expects."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
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
)
