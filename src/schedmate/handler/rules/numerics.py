"""Training that went astray although every process is well."""

import re

from schedmate.handler.rules.base import Rule

RULES = (
    Rule(
        reason="loss_nan",
        pattern=re.compile(
            r"\bnan\b.{0,30}\b(?:detected|encountered|found)\b.{0,30}\bloss\b"
            r"|\bloss is (?:now )?(?:nan|inf|not finite)\b|\bnon-?finite loss\b"
            r"|loss scale already at minimum|loss scale reached minimum",
            re.IGNORECASE,
        ),
        confidence=0.93,
        outlives_success=True,
        positives=(
            "NaN detected in loss, aborting.",
            "Loss is nan, stopping training",
            "Exception: Current loss scale already at minimum - cannot decrease scale anymore.",
        ),
        negatives=("check_nan_in_loss: True", "nan values in the loss are ignored: False"),
    ),
    Rule(
        reason="loss_nan",
        pattern=re.compile(
            r"(?<![a-z])(?:(?:train|training|total|lm|mean|avg|running)[ _/]?)?loss"
            r"[\"']?(?: value)?\s{0,4}[:=|]?\s{0,4}[-+]?(?:nan|inf)(?![a-z])",
            re.IGNORECASE,
        ),
        confidence=0.8,
        outlives_success=True,
        positives=(
            "Epoch 2 | step 4100 | loss nan | lr 3.0e-04",
            "step 0003 | loss = nan",
            "{'loss': nan, 'grad_norm': nan, 'learning_rate': 3e-4}",
            "epoch=3 train_loss=inf",
        ),
        negatives=(
            "step:1/1393 train_time:21ms step_avg:nan",
            "step:0/1750 val_loss:10.8258 step_avg:nan",
            "loss: 2.31 info: none",
            "number of nan iterations: 0",
            "number of skipped iterations: 0 | lm loss: 2.1E+00 | number of nan iterations: 0",
        ),
    ),
)
