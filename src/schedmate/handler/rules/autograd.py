"""Graphs that cannot be walked backwards."""

from schedmate.handler.rules.base import Rule, any_of

RULES = (
    Rule(
        name="backward-pass",
        reason="autograd_error",
        pattern=any_of(
            r"backward through the graph a second time|does not require grad and does not have a",
            r"modified by an inplace operation|is being modified inplace",
            r"[Ll]eaf [Vv]ariable (?:that requires grad )?(?:is being|has been) (?:used|moved)",
            r"Expected to have finished reduction in the prior|Expected to mark a variable ready",
            r"marked as ready twice|training graph has changed in this iteration",
            r"grad can be implicitly created only for scalar|Gradient only defined for scalar",
            r"appears to not have been used in the graph|One of the differentiated Tensors",
            r"on (?:a )?Tensor that requires grad\. Use|hook on a tensor that doesn't require grad",
            r"only change requires_grad flags of leaf|support the deepcopy protocol at the moment",
            r"returned an invalid gradient at index|returned an incorrect number of gradients",
            r"torch\.utils\.checkpoint: |Inference tensors? (?:cannot|outside)",
            r"(?:saved for backward|to inference tensor outside InferenceMode)",
            r"derivative for '?[\w:.]{1,80}'? is not implemented",
            r"No inf checks were recorded for this optimizer|unscale_\(\) has already been called",
            r"doesn't have any parameters that require a gradient|No gradients provided for any",
            r"parameters that were not used in producing (?:the )?loss",
            r"grad requires real- or complex-valued inputs|does not require gradients?\b",
            r"grad strides do not match|Trying to backward|assigned grad has data of a different",
        ),
        errors_only=True,
        confidence=0.95,
        positives=(
            "RuntimeError: Trying to backward through the graph a second time",
            "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
            (
                "RuntimeError: one of the variables needed for gradient computation has been "
                "modified by an inplace operation: [torch.cuda.FloatTensor [64]] is at version 3"
            ),
            (
                "RuntimeError: Expected to have finished reduction in the prior iteration before "
                "starting a new one. This error indicates that your module has parameters"
            ),
            "RuntimeError: grad can be implicitly created only for scalar outputs",
            (
                "RuntimeError: Can't call numpy() on Tensor that requires grad. Use "
                "tensor.detach().numpy() instead."
            ),
            (
                "RuntimeError: a leaf Variable that requires grad is being used in an in-place "
                "operation."
            ),
            "RuntimeError: Expected to mark a variable ready only once.",
            (
                "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values "
                "for the following tensors have different metadata"
            ),
            "TypeError: Gradient only defined for scalar-output functions. Output had shape: (3,).",
            "ValueError: No gradients provided for any variable: ['dense/kernel:0'].",
        ),
        negatives=(
            "RuntimeError: no gradient",
            "UserWarning: None of the inputs have requires_grad=True. Gradients will be None",
        ),
    ),
)
