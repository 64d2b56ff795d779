"""Checkpoints that belong to another model, optimizer or layout."""

from schedmate.handler.rules.base import Lazy, Rule, Weight

RULES = (
    Rule(
        name="state-dict",
        reason="checkpoint_mismatch",
        pattern=Lazy(
            r"Error\(s\) in loading state_dict|(?:Missing|Unexpected) key\(s\) in state_dict: "
            r"|[Mm]issing key in checkpoint state_dict|state_dict keys? .{0,40}(?:do not"
            r"|don't) match"
            r"|loaded state dict (?:contains a parameter group|has a different number of)"
            r"|this looks incorrect|Cannot load .{0,300}because .{0,160}(?:expected shape"
            r"|keys are missing)"
            r"|Checkpoint\w{0,12}Mismatch|from a different training loop setup"
            r"|checkpoint contains only the"
            r"|\bCheckpointingException: |thus raising an error\.|Global shape mismatch for loaded"
            r"|[Ss]ize mismatch between saved .{1,80} and current"
            r"|value from checkpoint \(.{0,80}\) is not equal to the input argument"
            r"|used a DP world size of \d{1,6} but the current"
            r"|ensure that the architectures match"
            r"|\b[Kk]eys? ['\"].{1,160}['\"] (?:not found|missing|absent) (?:in|from) (?:the )?"
            r"(?:checkpoint|state.?dict)"
            r"|File .{0,120}does not contain tensor|[Cc]heckpoint(?:'s)? .{0,80}does not match the"
        ),
        unless=Lazy(r"<All keys matched|\b(?:ignor(?:ed|ing)|skipp(?:ed|ing))\b"),
        errors_only=True,
        confidence=0.95,
        positives=(
            "RuntimeError: Error(s) in loading state_dict for ResNet:",
            (
                "ValueError: loaded state dict contains a parameter group that doesn't "
                "match the size of"
            ),
            "ValueError: loaded state dict has a different number of parameter groups",
            "RuntimeError: Missing key in checkpoint state_dict: optimizer.state.step.",
            "KeyError: \"Unable to restore: key 'params/encoder/kernel' not found in checkpoint\"",
            "pykeen.training.training_loop.CheckpointMismatchError: The checkpoint file 'x.pt'",
            "megatron.core.dist_checkpointing.core.CheckpointingException: Invalid access pattern",
            "KeyError: 'Trying to restore optimizer state but checkpoint contains only the model.'",
            (
                'ValueError: Trying to set a tensor of shape torch.Size([1, 2]) in "weight" (which '
                "has shape torch.Size([2, 2])), this looks incorrect."
            ),
            (
                "megatron.core.dist_checkpointing.core.CheckpointingException: Global shape "
                "mismatch for loaded ((4096, 68)) and expected ((4096, 72)) tensor for key x"
            ),
            (
                "AssertionError: num_layers value from checkpoint (24) is not equal to the input "
                "argument value (12)."
            ),
            (
                "deepspeed.runtime.zero.utils.ZeRORuntimeException: The checkpoint being loaded "
                "used a DP world size of 8 but the current world size is 16."
            ),
            (
                "Exception: Cannot load model parameters from checkpoint m.pt; please ensure that "
                "the architectures match."
            ),
            "ValueError: Size mismatch between saved torch.Size([8]) and current: torch.Size([4])",
        ),
        negatives=(
            "RuntimeError: loading state_dict for ResNet: <All keys matched successfully>",
            "ValueError: the state dict is empty",
        ),
    ),
    Rule(
        name="keras-layers",
        reason="checkpoint_mismatch",
        pattern=Lazy(
            r"load a weight file containing \d{1,6} (?:saved )?layers"
            r"|(?:Layer|Weight) count mismatch (?:when loading|for layer)"
            r"|(?:but the saved weight has|but the saved weights? .{0,20}) shape"
            r"|expected \d{1,6} (?:variables|weights), but (?:received|saved|the saved|found) "
            r"|objects could not be loaded\. Example error"
            r"|Key \S{1,200} not found in checkpoint|not found in checkpoint files"
            r"|mismatch between the current graph and the graph"
            r"|Assign requires shapes of both tensors to match|Unresolved object in checkpoint"
            r"|ScopeParam(?:Shape|NotFound)Error|tree structures do not match|[Dd]ict key mismatch"
            r"|target dict keys and state dict keys do not match"
            r"|is not compatible with the stored shape|[Ss]tate structure mismatch"
        ),
        unless=Lazy(r"^.{0,60}: W |\b(?:ignor(?:ed|ing)|skipp(?:ed|ing))\b"),
        errors_only=True,
        confidence=0.93,
        positives=(
            (
                "ValueError: You are trying to load a weight file containing 12 layers "
                "into a model with 10"
            ),
            (
                "ValueError: Layer count mismatch when loading weights from file. Model "
                "expected 9 layers"
            ),
            (
                "ValueError: Layer 'dense' expected 2 variables, but received 0 "
                "variables during loading."
            ),
            (
                "ValueError: A total of 1 objects could not be loaded. Example error "
                "message for object"
            ),
            (
                "tensorflow.python.framework.errors_impl.NotFoundError: Key conv1/kernel not "
                "found in checkpoint"
            ),
            (
                "InvalidArgumentError: Assign requires shapes of both tensors to match. "
                "lhs shape= [41]"
            ),
            (
                "InvalidArgumentError: Restoring from checkpoint failed. This is most likely "
                "due to a mismatch between the current graph and the graph from the checkpoint."
            ),
            (
                "flax.errors.ScopeParamShapeError: Initializer expected to generate "
                "shape (2, 3) but got"
            ),
            (
                "ValueError: User-provided restore item and on-disk value metadata tree "
                "structures do not match"
            ),
            (
                "ValueError: The target dict keys and state dict keys do not match, "
                "target dict contains"
            ),
            "ValueError: Requested shape: (8, 4) is not compatible with the stored shape: (4, 4).",
        ),
        negatives=("ValueError: 3 layers are too few", "KeyError: 'checkpoint'"),
    ),
    Rule(
        # loaders that are not strict print this too, and go on
        name="parameter-line",
        reason="checkpoint_mismatch",
        pattern=Lazy(
            r"size mismatch for [\w.]{1,200}: copying a param"
            r"|(?:Missing|Unexpected) key\(s\) in state_dict: \""
        ),
        unless=Lazy(r"\b(?:ignor(?:ed|ing)|skipp(?:ed|ing))\b"),
        confidence=0.75,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "size mismatch for fc.weight: copying a param with shape torch.Size([10, 512]) "
                "from checkpoint, the shape in current model is torch.Size([100, 512])."
            ),
            '        Missing key(s) in state_dict: "fc.weight", "fc.bias".',
        ),
        negatives=(
            "missing keys: [] unexpected keys: []",
            "Some weights of the model checkpoint were not used when initializing Bert: ['cls']",
            "<All keys matched successfully>",
        ),
    ),
)
