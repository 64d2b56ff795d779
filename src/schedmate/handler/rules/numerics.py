"""Diverged training in processes that still run."""

import re

from schedmate.handler.rules.base import LazyPattern, Rule

_BAD = r"(?:nan|inf|infinite|infinity|not finite|non-?finite)"
_WAS = r"(?: (?:values?|was|were|is|has|been|or|inf|nan)){0,3}"
_GOING_ON = LazyPattern(
    r"\b(?:skipp(?:ed|ing)|skip|ignor(?:e|ed|ing)|reducing|zero_nans|nan_to_num|check(?:ing)?"
    r"|will be|if|whether|when|filter\w{0,4}|replac\w{0,4})\b|check_for_nan|nan_check",
    re.IGNORECASE,
)

RULES = (
    Rule(
        name="non-finite-detected",
        reason="loss_nan",
        pattern=LazyPattern(
            rf"\b{_BAD}s?(?:/\w{{1,8}})?{_WAS} (?:detected|encountered|found"
            rf"|occurred)\b.{{0,40}}\bloss"
            rf"|\b(?:detected|encountered|found):? (?:an? |some )?{_BAD}\b.{{0,50}}\b(?:loss|grad"
            rf"|forward)"
            rf"|\bloss(?:es)?(?: value)? (?:is|are|was|has become|became|become|becomes|went"
            rf"|contains?(?: an?)?|turned|diverged to) (?:now )?{_BAD}\b"
            rf"|\bloss returned in .{{0,40}} is {_BAD}\b"
            rf"|\b{_BAD} (?:training |train )?loss (?:encountered|detected|found|during|at|in)\b"
            r"|\b(?:loss|training|model) (?:has )?(?:diverged|exploded|blew up)\b"
            r"|^[\w.]{0,80}NaN\w{0,20}Error"
            rf"|\b{_BAD}s? in (?:the )?(?:\w{{1,12}} )?loss\b|\bnon-?finite loss\b"
            r"|diverged with loss = nan|NanLossDuringTraining"
            r"|Invalid loss, terminating training"
            r"|loss scale (?:is )?already at minimum|loss scale reached minimum"
            r"|Minimum loss scale reached|already at (?:the )?minimum loss scale"
            r"|Function '\w{1,60}' returned nan values|Detected nan and/or inf values in"
            rf"|= {_BAD} is not finite\. Previous best|Unexpected result {_BAD} \(message="
            r"|invalid value \((?:nan|inf)\) encountered in",
            re.IGNORECASE,
        ),
        unless=_GOING_ON,
        confidence=0.93,
        outlives_success=True,
        positives=(
            "NaN detected in loss, aborting.",
            "Loss is nan, stopping training",
            "Exception: Current loss scale already at minimum - cannot decrease scale anymore.",
            (
                "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is "
                "probably exploding"
            ),
            "FloatingPointError: Loss became infinite or NaN at iteration=166!",
            "AssertionError: loss become infinite or NaN!",
            "ValueError: nan loss encountered",
            "ValueError: Array contains NaN in train loss",
            "FATAL: loss exploded (1e+34), stopping",
            "RuntimeError: Train loss contains a NaN.",
            "ValueError: The loss returned in `training_step` is nan.",
            "ValueError: Detected nan and/or inf values in `layer.weight`. Look at your forward",
            "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output.",
            (
                "AssertionError: Rank 7: found NaN in local forward loss calculation. "
                "Device: 7, node: n1"
            ),
            (
                "RuntimeError: Rank 3, node n1, device 3, iteration 11: Unexpected result nan "
                "(message='found NaN in local forward loss calculation')"
            ),
            "Batch 0: Invalid loss, terminating training",
            "Loss diverged, stop training",
            "ERROR:tensorflow:Model diverged with loss = NaN.",
            "Monitored metric val_loss = nan is not finite. Previous best value was 2.1",
            "FloatingPointError: invalid value (nan) encountered in jit(div)",
        ),
        negatives=(
            "check_nan_in_loss: True",
            "nan values in the loss are ignored: False",
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
            "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
            "Loss is nan, skipping this batch",
            "The grad norm is nan. Skipping updating the model.",
            "NaN or Inf found in input tensor.",
            "check_for_nan_in_loss_and_grad ............. True",
        ),
    ),
    Rule(
        # a distribution over the network's output, which is NaN
        name="non-finite-input",
        reason="loss_nan",
        pattern=LazyPattern(
            r"probability tensor contains either `inf`, `nan`|expects all elements of std >= 0"
            r"|The (?:parameter|value of argument) \w{1,20} has invalid values"
            r"|(?:parameter"
            r"|argument) \w{1,20} .{0,120}to satisfy the constraint .{0,80}invalid values"
            r"|Gradient .{0,80}(?:is NaN|had NaN values)|Tensor had (?:NaN|Inf) values"
            r"|(?:gradient|grad)s? (?:norm )?(?:is|are|contains?|became) (?:NaN|[Nn]an|[Ii]nf"
            r"|non-finite)"
            r"|\b(?:NaN|[Nn]an|[Ii]nf|[Nn]on-?finite)(?:/[Ii]nf)? (?:gradient|grad)s?\b",
        ),
        unless=_GOING_ON,
        errors_only=True,
        confidence=0.65,
        positives=(
            "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
            (
                "ValueError: Expected parameter loc (Tensor of shape (256, 8)) of distribution "
                "Normal() to satisfy the constraint Real(), but found invalid values:"
            ),
            "RuntimeError: normal expects all elements of std >= 0.0",
            "ValueError: The parameter loc has invalid values",
            "FloatingPointError: gradients are Nan/Inf",
            "InvalidArgumentError: Gradient for dense/kernel:0 is NaN : Tensor had NaN values",
        ),
        negatives=("ValueError: cannot convert float NaN to integer",),
    ),
    Rule(
        # the scale can fall no further, and steps are still skipped: nothing is learnt any more
        name="loss-scale",
        reason="loss_nan",
        pattern=LazyPattern(
            r"[Ll]oss scale:? (?:0|1)(?:\.0{1,4})?, reducing to (?:0|1)(?:\.0{1,4})?(?:[^.\d]|$)"
            r"|reducing loss scale to (?:0\.0{1,4}(?:[^\d]|$)|\d\.?\d{0,20}e-(?:0[5-9]|[1-9]\d))"
        ),
        confidence=0.75,
        lasting=True,
        positives=(
            (
                "[deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 0.0, "
                "reducing to 0.0"
            ),
            "[Rank 0] Overflow detected. Skipping step. Attempted loss scale: 1, reducing to 1",
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 0.0",
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 2.22e-16",
        ),
        negatives=(
            "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 0.5",
            "Attempted loss scale: 1, reducing to 0.5",
        ),
    ),
    Rule(
        # validation losses are left out: an empty set has a NaN mean, and nothing is lost
        name="printed-metric",
        reason="loss_nan",
        pattern=LazyPattern(
            r"(?:^|[^\w\s/.\-]|[^\w\s/]\s{1,12}|\d\s{1,12}|\b(?:train|training|total|lm|mean|avg"
            r"|average|running|step|batch|epoch|mlm|ce|nll|policy|actor|critic|value"
            r"|function|surrogate"
            r"|entropy|cur|current|g|d|gen|disc|generator|discriminator|adv|recon|mel|kl|mse|l1|bce"
            r"|dice|seg|ctc|att|rnnt|vq|contrastive|distill|diffusion|main|aux|box|obj|cls"
            r"|dfl|reg)[ _/\-])"
            r"loss(?:es)?(?:_\w{1,30})?[\"'\]]?(?: value)?\s{0,4}"
            r"(?:[:=|]{0,2}|[=-]>|\.{2,40})\s{0,4}[\"'(\[]?(?:tensor\()?"
            r"[-+]?(?:nan|inf|infinity)(?:[^a-z_]|$)"
            r"|[\"']loss[\"']: 0\.0, [\"']grad_norm[\"']: nan"
            r"|^ {2,12}\d{1,6}/\d{1,6} {2,12}[\d.]{1,8}[GM] {2,12}nan {2,12}nan ",
            re.IGNORECASE,
        ),
        unless=LazyPattern(r"\bskipped by\b|\bscale:? [\d.e+]{1,12} ?->", re.IGNORECASE),
        confidence=0.8,
        outlives_success=True,
        lasting=True,
        positives=(
            "Epoch 2 | step 4100 | loss nan | lr 3.0e-04",
            "step 0003 | loss = nan",
            "[Loss] nan",
            "[loss]: nan | [acc]: 0.1",
            "Loss => nan",
            "loss(nan) acc(0.1)",
            "train/loss ........ nan",
            "step 0003 loss nan",
            "               Value function loss: inf",
            "{'loss': nan, 'grad_norm': nan, 'learning_rate': 3e-4}",
            "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.54}",
            "epoch=3 train_loss=inf",
            (
                "Epoch: [3][7427/24290]  Time 2.460 (2.266)      Data 0.045 (0.046)      "
                "Loss nan (nan)"
            ),
            "782/782 [==============================] - 4s 5ms/step - loss: nan - accuracy: 0.1",
            " iteration 10/ 500 | lm loss: NAN | loss scale: 1.0 | grad norm: nan |",
            "eta: 5:41:49  iter: 379  total_loss: nan  loss_cls: nan  loss_box_reg: nan",
            "Epoch 3: 12%|#2  | 120/1000 [00:12<01:30, 9.7it/s, loss=nan]",
            "      3/100      3.51G        nan        nan        nan         32        640: 100%",
            "Iter 200: Train loss nan, Learning Rate 1.000e-05, It/sec 0.5",
        ),
        negatives=(
            "step:1/1393 train_time:21ms step_avg:nan",
            "step:0/1750 val_loss:10.8258 step_avg:nan",
            "loss: 2.31 info: none",
            "number of nan iterations: 0",
            "number of skipped iterations: 0 | lm loss: 2.1E+00 | number of nan iterations: 0",
            "best_loss: inf",
            "best loss inf, epoch 0",
            "val_loss: nan",
            "step 41 loss nan (scaled) skipped by GradScaler, scale 65536.0 -> 32768.0",
            "{'loss': 0.1474, 'grad_norm': nan, 'learning_rate': 0.0001, 'epoch': 0.04}",
        ),
    ),
)
