"""Command lines and configs that the program does not accept."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
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
