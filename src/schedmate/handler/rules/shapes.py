"""Tensors and arrays whose shapes do not fit, in the messages of each framework."""

from schedmate.handler.rules.base import LazyPattern, Rule, any_of

_TORCH = (
    r"mat1 and mat2 shapes cannot be multiplied|mat1 dim 1 must match mat2 dim 0",
    r"size mismatch, (?:m1|get|got)|matrices expected, got \dD",
    r"The size of tensor a \(\d{1,12}\) must match",
    r"expanded size of the tensor \(\d{1,12}\) must match",
    r"stack expects each tensor to be equal size|each element in list of batch should be of equal",
    r"Sizes of tensors must match|Tensors must have same number of dimensions",
    r"shape '\[[\d, \-]{0,80}\]' is invalid for input of size",
    r"view size is not compatible with input tensor's size",
    r"split_with_sizes expects split_sizes|don't multiply up to the size of dim",
    r"Expected \d-dimensional input for \d-dimensional weight",
    (
        r"[Ee]xpected \d[dD](?: \(\w{1,12}\))?(?:,? or \d[dD](?: \(\w{1,12}\))?)? (?:input|tensor"
        r"|array)"
    ),
    r"weight of size \[[\d, ]{1,60}\],? expected input",
    r"expected input with shape \[|(?:running_mean|running_var|weight) should contain \d",
    r"must be equal to input_size|[Ee]xpected hidden\[?\d?\]? size",
    r"batch2 tensor to be: \[|must have same number of batches|[Ee]xpected batch2_sizes",
    r"[Ee]xpected input batch_size \(\d{1,9}\) to match target|Expected target size",
    r"[Tt]arget size \(torch\.Size.{1,60}(?:input size|deprecated)",
    r"multi-target not supported|only batches of spatial targets supported",
    r"The (?:shape|size) of the \dD attn_mask is|[Kk]ernel size can't be greater than actual input",
    r"doesn't match the broadcast shape|does not broadcast with previously seen size",
    r"do not broadcast with remapped shapes|inconsistent tensor size",
    r"number of dim(?:ension)?s (?:don't match in permute|in the tensor input does not match)",
    r"[12]D tensors expected, but got|self must be a matrix|vector \+ matrix|mat2 must be a matrix",
    r"The number of sizes provided \(\d|input must have \d dimensions, got",
    r"Output size is too small",
    r"Padding size should be less than the corresponding input dimension",
    r"shape of the mask \[.{1,60} does not match the shape of the indexed tensor",
    r"cannot be converted to (?:a )?Scalar|only one element tensors can be converted",
    r"[Tt]rying to create tensor with negative dimension",
    r"EinopsError: |[Ee]rror while processing \w{1,20}-reduction pattern",
)
_NUMPY = (
    r"could not be broadcast together|could not broadcast input array",
    r"cannot be broadcast to a single shape|(?:indexing|index) arrays could not be broadcast",
    r"cannot reshape array of s(?:ize|hape)|total size of new array must be unchanged",
    r"matmul: Input operand \d|shapes .{1,60} not aligned|[Ii]ncompatible dimensions",
    r"all the input array|all input arrays must have the same shape|inhomogeneous shape",
    r"setting an array element with a sequence|boolean index did not match",
    r"einstein sum subscripts string|operand has a mismatch in its core dimension",
    r"cannot select an axis to squeeze out|zero-dimensional arrays cannot be concatenated",
    r"inconsistent numbers of samples|features, but \w{1,60} is expecting \d",
    r"Expected \dD array, got \dD array|should be a 1d array, got an array of shape",
    r"(?:Length of values|All arrays must be of the same length|columns passed, passed data had)",
    r"[Ss]hape of passed values is",
)
_JAX = (
    r"dot_general requires|[Ii]ncompatible shapes|cannot concatenate arrays with shapes",
    r"(?:got|requires) arrays? of (?:different|equal) rank|vmap got inconsistent sizes",
    r"requires arrays to have equal ranks|[Cc]annot reshape array of shape",
    r"ScopeParamShapeError|conv_general_dilated .{0,60}(?:must|should) (?:be|equal)",
    r"[Ss]harded? along .{0,80}not divisible|should be divisible by \d{1,9}, but it is equal to",
)
_TENSORFLOW = (
    r"Dimensions must be equal|Matrix size-incompatible|[Mm]atrix size.incompatible",
    r"Input to reshape is a tensor with|Shapes? \(?.{1,60}\)? (?:and|vs) .{1,60} are incompatible",
    r"Shape must be (?:at least )?rank \d|logits and labels must",
    r"is incompatible with (?:the )?layer|[Ll]ayer requires inputs with matching shapes",
    r"Data cardinality is ambiguous|[Cc]annot batch tensors with different shapes",
    r"Error when checking (?:input|target|model input|model target)",
    r"Dimensions? of inputs should match|Cannot feed value of shape",
    r"Negative dimension size caused by|Can not squeeze dim\[|[Dd]imension \d in both shapes must",
    r"Cannot add tensor to the batch: number of elements does not match",
    r"`?target`? and `?output`? must have the same shape",
    r"same (?:rank|shape) as .{0,40}(?:logits|labels)",
)
_MODELS = (
    r"Attention (?:mask|weights) should be of (?:size|shape)|[Ww]rong shape for input_ids",
    r"[Ii]mage size \(.{1,30}\) doesn't match model",
    r"[Ii]mage features and image tokens do not match",
    r"activate truncation and/or padding|`attn_output` should be of size",
    r"number of channels in the pixel values match",
)
_MISFIT = (
    r"(?:mismatch|incompatible|inconsistent|not match|n't match|not agree|(?:must|should) (?:all )?"
    r"(?:match|agree|be (?:equal|the same|of (?:equal|the same)))|(?:but"
    r"|, )(?: ?instead)? ?(?:got|found)|"
    r"(?:not|n't) (?:equal|the same))"
)
_ALIKE = (
    r"^[\w.]{0,120}(?:Error|Exception): .{0,160}(?:must|should|to|not|n't|expected?) (?:all )?"
    r"(?:have|be of|of) (?:the )?(?:same|equal|matching|identical|compatible) (?:shape|size|rank"
    r"|length|dimension|number of (?:dim|channel|row|column|element))"
)
_TWO = (
    r"^[\w.]{0,120}(?:Error"
    r"|Exception): .{0,160}\b[Ss]hapes? ?[=:]? ?[(\[][\dNone, ]{1,60}[)\]].{0,80}"
    r"\b[Ss]hapes? ?[=:]? ?[(\[][\dNone, ]{1,60}[)\]]"
)
"""A message with two shapes reports that they do not fit."""

RULES = (
    Rule(
        name="known-message",
        reason="shape_mismatch",
        pattern=any_of(*_TORCH, *_NUMPY, *_JAX, *_TENSORFLOW, *_MODELS),
        unless=LazyPattern(r"checkpoint|state_dict|copying a param"),
        errors_only=True,
        confidence=0.94,
        positives=(
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)",
            (
                "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at "
                "non-singleton dimension 1"
            ),
            "ValueError: Expected input batch_size (32) to match target batch_size (16).",
            (
                "RuntimeError: stack expects each tensor to be equal size, but got [3, 224, 224] "
                "at entry 0 and [1, 224, 224] at entry 3"
            ),
            (
                "RuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected input[8, 1, "
                "224, 224] to have 3 channels, but got 1 channels instead"
            ),
            (
                "RuntimeError: Expected 3D (unbatched) or 4D (batched) input to conv2d, but got "
                "input of size: [32, 784]"
            ),
            "ValueError: expected 4D input (got 3D input)",
            "RuntimeError: shape '[32, -1, 7]' is invalid for input of size 100",
            (
                "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 96 (input "
                "tensor's size at dimension -1), but got split_sizes=[64, 64]"
            ),
            (
                "ValueError: Target size (torch.Size([32])) must be the same as input size "
                "(torch.Size([32, 1]))"
            ),
            "RuntimeError: 0D or 1D target tensor expected, multi-target not supported",
            (
                "einops.EinopsError:  Error while processing rearrange-reduction pattern "
                '"b (h w) c -> b c h w".'
            ),
            "ValueError: operands could not be broadcast together with shapes (3,) (4,) ",
            "ValueError: shapes (3,4) and (3,4) not aligned: 4 (dim 1) != 3 (dim 0)",
            "ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0",
            "ValueError: could not broadcast input array from shape (2,3) into shape (3,)",
            "ValueError: Found input variables with inconsistent numbers of samples: [100, 90]",
            (
                "ValueError: X has 10 features, but StandardScaler is expecting 12 features as "
                "input."
            ),
            "TypeError: add got incompatible shapes for broadcasting: (512, 50), (1, 145).",
            (
                "TypeError: dot_general requires contracting dimensions to have the same shape, "
                "got (784,) and (512,)."
            ),
            (
                "tensorflow.python.framework.errors_impl.InvalidArgumentError: Incompatible "
                "shapes: [32,10] vs. [32,12] [Op:Mul]"
            ),
            "ValueError: Dimensions must be equal, but are 3 and 4 for '{{node add}}'",
            'ValueError: Input 0 of layer "model" is incompatible with the layer: expected shape',
            "ValueError: Shapes (None, 7) and (None, 1, 7) are incompatible",
        ),
        negatives=(
            "ValueError: the shape of things to come",
            "RuntimeError: size mismatch, got checkpoint of an older model",
        ),
    ),
    Rule(
        # TensorFlow prints it below `in user code:` and `Graph execution error:`
        name="quoted-message",
        reason="shape_mismatch",
        pattern=LazyPattern(
            r"^ {4,16}\w{5,40}Error: .{0,200}(?:" + "|".join(_TENSORFLOW + _NUMPY[:2]) + ")"
            r"|^ {0,4}(?:\(\d\) )?(?:INVALID_ARGUMENT|Invalid argument): .{0,200}(?:"
            + "|".join(_TENSORFLOW)
            + r"|[Ii]ncompatible shapes)|^(?:logits and labels must|Incompatible shapes: \[)"
        ),
        confidence=0.85,
        positives=(
            "    ValueError: Shapes (None, 7) and (None, 1, 7) are incompatible",
            '    ValueError: Input 0 of layer "dense" is incompatible with the layer: expected',
            "logits and labels must be broadcastable: logits_size=[32,4] labels_size=[32,5]",
            (
                "  (0) INVALID_ARGUMENT:  Cannot batch tensors with different shapes in component "
                "0. First element had shape [408,500,3] and element 1 had shape [360,343,3]."
            ),
        ),
        negatives=(
            "    raise ValueError: shapes",
            "    ValueError: Shapes",
            "  (0) INVALID_ARGUMENT:  the stream is closed",
        ),
    ),
    Rule(
        name="worded-message",
        reason="shape_mismatch",
        pattern=LazyPattern(
            r"^[\w.]{0,120}(?:Error|Exception): .{0,120}?"
            r"\b(?:[Ss]hapes?|[Ss]izes?|[Dd]imensions?|(?:[a-z]{1,12}_)?dims?|[Cc]hannels?|[Ll]engths?"
            r"|ranks? of)\b.{0,80}?" + _MISFIT + r"|" + _ALIKE + r"|" + _TWO
        ),
        unless=LazyPattern(
            r"world.?size|checkpoint|state_dict|checksum|download|\bbytes\b|[Ff]ile|[Vv]ocab"
            r"|argument '?\w{1,40}'? must be|binary (?:file|incompat)|partition|split"
            r"|value per channel"
        ),
        errors_only=True,
        confidence=0.7,
        positives=(
            "AssertionError: shape mismatch: (2, 3) vs (3, 2)",
            "AssertionError: query should have embed_dim 512 but got 256",
            "ValueError: `logits` and `labels` must have the same shape, received ((2, 1) vs (2,))",
            (
                "ValueError: A target array with shape (32, 10) was passed for an output of "
                "shape (32, 1)"
            ),
            "mxnet.base.MXNetError: Error in operator fc: Shape inconsistent, Provided = [64,3]",
            "RuntimeError: mask and image sizes do not match",
            "ValueError: q, k and v must have the right dimensions, but got 3",
        ),
        negatives=(
            "ValueError: world size does not match",
            "ValueError: the file size does not match the index",
            "ValueError: batch size must be positive",
            (
                "ValueError: Expected more than 1 value per channel when training, got input size "
                "torch.Size([1, 256])"
            ),
        ),
    ),
)
