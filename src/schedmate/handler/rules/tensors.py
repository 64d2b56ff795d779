"""Tensors that are on different devices or of different types."""

from schedmate.handler.rules.base import LazyPattern, Rule, any_of

_DEVICES = (
    (
        r"(?:to|must|should|not|n't|all) (?:all )?(?:be )?(?:at|on|in) the (?:same|expected"
        r"|current) device"
    ),
    r"Input type \(torch\.[A-Z]\w{0,30}\) and (?:weight|bias) type \(torch\.(?:cuda|hip|xpu)\.",
    r"Input type \(torch\.(?:cuda|hip|xpu)\.\w{1,30}\) and (?:weight|bias) type \(torch\.[A-Z]",
    r"[Ee]xpected object of (?:device type|backend) \w{1,20} but got",
    r"of type torch\.cuda\.\w{1,30} but (?:found|got) type torch\.[A-Z]",
    r"of type torch\.[A-Z]\w{1,30} but (?:found|got) type torch\.cuda\.",
    r"parameters and buffers on device .{1,60} but found one of them on device",
    r"should be either on (?:the )?(?:cpu|same device)|on the same device as the indexed tensor",
    r"can't convert \S{1,20} device type tensor to numpy|Implicit conversion to a NumPy array",
    r"is on CPU, (?:but expected|Tensor for)|but expected (?:it|them) to be on GPU",
    r"[Ee]xpected a '?\w{1,12}'? device(?: type)? for generator|[Ee]xpected an? \w{1,12} device",
    r"cannot be accessed from Triton \(cpu tensor",
    r"No backend type associated with device type|Tensors must be (?:CUDA|on GPU)",
    r"[Ii]ncompatible devices for jitted computation|[Tt]ensors on conflicting devices",
    r"[Ee]xpected (?:\w{1,12} )?(?:on )?device (?:type )?\S{1,20},? but (?:got|found|is)",
    r"Attempting to deserialize object on (?:a )?CUDA",
    r"(?:tensors?|inputs?|weights?|parameters?|model) .{0,40}on different (?:devices|GPUs)",
    r"Passed CPU tensor to|input must be a CUDA tensor|must be a (?:CUDA|GPU) tensor",
)
_TYPES = (
    r"[Ee]xpected (?:object of )?(?:scalar type|dtype) |[Ff]ound dtype \w{1,20} but expected",
    r"(?:same|equal|uniform) dtypes?\b|dtype to be .{1,60}, but got",
    r"source and destination dtypes match",
    r"to be equal to src\.dtype|dtype mismatch|[Mm]ismatched? (?:d|data )types?",
    r"Input type \(\S{1,60}\) and (?:bias|weight) type",
    r"\" not implemented for '\w{1,20}'|not implemented for '(?:Half|BFloat16|Long|Int|Bool)'",
    r"result type \w{1,20} can't be cast to|[Ee]xpected (?:\w{1,12} tensor|a \w{1,12}) \(got",
    r"to have one of the following scalar types|tensors used as indices must be",
    r"floating point (?:and complex )?dtype can require gradients|could not infer output dtype",
    r"can't convert np\.ndarray of type|Got unsupported ScalarType|UFuncTypeError: Cannot cast",
    r"Tensor conversion requested dtype|that does not match type \w{1,20} of argument",
    r"was expected to be an? \w{1,20} tensor but is an? \w{1,20} tensor",
    r"carry (?:input and carry )?output must have (?:equal|identical) types",
    r"Attempting to unscale FP16 gradients|only supports? (?:fp16|bf16|boolean masks)",
    r"[Ff]lash ?[Aa]ttention only supports? (?:fp16|bf16|float16)",
    r"expected floating point type|cannot be converted to type at::\w{1,20} without overflow",
    r"expected m1 and m2 to have the same dtype",
    r"of type torch\.[A-Z]\w{1,30} but (?:found|got) type",
    r"data type .{0,60}(?:not (?:supported|match)|mismatch)|should have the same data type",
)

RULES = (
    Rule(
        name="same-device",
        reason="device_mismatch",
        pattern=any_of(*_DEVICES),
        errors_only=True,
        confidence=0.95,
        positives=(
            (
                "RuntimeError: Expected all tensors to be on the same device, but found at least "
                "two devices, cuda:0 and cpu!"
            ),
            (
                "RuntimeError: Input type (torch.FloatTensor) and weight type "
                "(torch.cuda.FloatTensor) should be the same"
            ),
            (
                "RuntimeError: module must have its parameters and buffers on device cuda:0 "
                "(device_ids[0]) but found one of them on device: cpu"
            ),
            (
                "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to "
                "copy the tensor to host memory first."
            ),
            (
                "RuntimeError: indices should be either on cpu or on the same device as the "
                "indexed tensor (cpu)"
            ),
            "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'",
            "ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
            "RuntimeError: No backend type associated with device type cpu",
            "RuntimeError: Tensor on device meta is not on the expected device cpu!",
            (
                "RuntimeError: Expected object of device type cuda but got device type cpu for "
                "argument #1 'self' in call to _th_mm"
            ),
        ),
        negatives=(
            "RuntimeError: all tensors are on cuda:0",
            (
                "RuntimeError: Input type (torch.cuda.HalfTensor) and weight type "
                "(torch.cuda.FloatTensor) should be the same"
            ),
        ),
    ),
    Rule(
        # any exception that names two different devices
        name="named-devices",
        reason="device_mismatch",
        pattern=LazyPattern(
            r"^[\w.]{0,120}(?:Error|Exception): .{0,200}\bdevice\b.{0,100}\b(?:cpu|CPU"
            r"|host)\b.{0,100}"
            r"\b(?:cuda|CUDA|gpu|GPU|xpu|npu|hpu)\b"
            r"|^[\w.]{0,120}(?:Error|Exception): .{0,200}\bdevice\b.{0,100}\b(?:cuda|gpu|GPU|xpu"
            r"|npu)"
            r"(?::\d)?\b.{0,100}\b(?:cpu|CPU)\b"
        ),
        unless=LazyPattern(
            r"not (?:available|compiled|found|supported|implemented)|[Ii]nvalid device"
        ),
        errors_only=True,
        confidence=0.7,
        positives=(
            (
                "dgl._ffi.base.DGLError: Cannot assign node feature on device cpu to a graph on "
                "device cuda:0. Call DGLGraph.to() to copy the graph to the same device."
            ),
            "ValueError: the mask's device is cuda:1 while the image is on the cpu",
        ),
        negatives=(
            "RuntimeError: device cpu was asked for, cuda is not available",
            "RuntimeError: Invalid device string: 'cpu' or 'cuda' expected",
        ),
    ),
    Rule(
        name="scalar-type",
        reason="dtype_mismatch",
        pattern=any_of(*_TYPES),
        errors_only=True,
        confidence=0.93,
        positives=(
            "RuntimeError: expected scalar type Float but found Half",
            "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half",
            "RuntimeError: Found dtype Long but expected Float",
            "RuntimeError: expected target dtype to be Long or Byte, but got Float",
            (
                "RuntimeError: Input type (torch.cuda.HalfTensor) and weight type "
                "(torch.cuda.FloatTensor) should be the same"
            ),
            "RuntimeError: Input type (float) and bias type (c10::Half) should be the same",
            "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'",
            (
                "RuntimeError: Expected tensor for argument #1 'indices' to have one of the "
                "following scalar types: Long, Int; but got torch.FloatTensor instead"
            ),
            "RuntimeError: result type Float can't be cast to the desired output type Long",
            "TypeError: lax.add requires arguments to have the same dtypes, got float32, int32.",
            (
                "numpy.core._exceptions._UFuncTypeError: Cannot cast ufunc 'add' output from "
                "dtype('float64') to dtype('int64') with casting rule 'same_kind'"
            ),
            "ValueError: Attempting to unscale FP16 gradients.",
            "TypeError: Got unsupported ScalarType BFloat16",
            (
                "ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 and "
                "torch.float32"
            ),
        ),
        negatives=(
            "TypeError: expected str, bytes or os.PathLike object, not NoneType",
            "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
            "NotImplementedError: not implemented for windows",
        ),
    ),
)
