"""Checkpoints and weights that cannot be read."""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_CHECKPOINT_MISMATCH = (
    Rule(
        name="state-dict",
        reason="checkpoint_mismatch",
        pattern=LazyPattern(
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
        unless=LazyPattern(r"<All keys matched|\b(?:ignor(?:ed|ing)|skipp(?:ed|ing))\b"),
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
        pattern=LazyPattern(
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
            r"|(?:[Rr]estored|[Ss]aved|[Ss]tored|[Cc]heckpoint(?:ed)?)\b.{0,40}\bshape\b.{0,80}"
            r"(?:does not match|doesn't match|differs from|incompatible|mismatch)"
        ),
        unless=LazyPattern(r"^.{0,60}: W |\b(?:ignor(?:ed|ing)|skipp(?:ed|ing))\b"),
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
        pattern=LazyPattern(
            r"size mismatch for [\w.]{1,200}: copying a param"
            r"|(?:Missing|Unexpected) key\(s\) in state_dict: \""
        ),
        unless=LazyPattern(r"\b(?:ignor(?:ed|ing)|skipp(?:ed|ing))\b"),
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


_OF_WEIGHTS = (
    r"(?:load_weights|load_model|load_state_dict|load_checkpoint|_checkpoint\(|[Cc]heckpoint|\bckpt"
    r"|\bresume|\brestore|pretrained|weights)"
)
_OF_DATA = (
    r"(?:__getitem__|__iter__|[Dd]ata_?[Ss]ets?\b|[Dd]ata_?[Ll]oader|\bin collate|_dl\b"
    r"|\b(?:samples?|shards?|features?|records?|corpus|images?|annotations?)\b)"
)

_CHECKPOINTS = (
    Rule(
        name="checkpoint-file",
        reason="checkpoint_corrupt",
        pattern=LazyPattern(
            r"(?:[Uu]nable to (?:synchronously )?open (?:file|object) \((?:truncated|wrong|bad"
            r"|invalid|addr overflow|file signature not found|unable to read superblock)"
            r"|BadZipFile: |zlib\.error: ).{0,900}"
            + _OF_WEIGHTS
            + r"|JSONDecodeError: Expecting value.{0,900}"
            r"(?:[Tt]rainer_?[Ss]tate|load_from_json|load_checkpoint|restore_checkpoint"
            r"|index\.json|checkpoint\w{0,20}\.json)"
        ),
        errors_only=True,
        of_a_file=True,
        confidence=0.87,
        positives=(
            "OSError: Unable to open file (truncated file: eof = 96) net.load_weights(path)",
            "zipfile.BadZipFile: File is not a zip file np.load(args.resume)",
            (
                "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) in "
                "load_from_json return cls(**json.loads(text))"
            ),
        ),
        negatives=(
            "OSError: Unable to open file (truncated file: eof = 512, sblock->base_addr = 0)",
            "zipfile.BadZipFile: File is not a zip file",
        ),
    ),
    Rule(
        name="pickled-sample",
        reason="data_error",
        pattern=LazyPattern(
            r"(?:UnpicklingError: |EOFError: Ran out of input|pickle data was truncated"
            r"|PytorchStreamReader failed|invalid header or archive is corrupted"
            r"|Unpack failed: incomplete input|unpack\(b\) received extra data).{0,900}" + _OF_DATA
        ),
        unless=LazyPattern(_OF_WEIGHTS + r"|state_dict|\bmodel"),
        errors_only=True,
        of_a_file=True,
        confidence=0.85,
        positives=(
            "_pickle.UnpicklingError: pickle data was truncated in __getitem__ pickle.load(f)",
            "RuntimeError: PytorchStreamReader failed finding central directory in __getitem__",
        ),
        negatives=(
            "_pickle.UnpicklingError: pickle data was truncated",
            "EOFError: Ran out of input in load_dataset_and_model torch.load(checkpoint)",
        ),
    ),
    Rule(
        # the loader refuses to run code of the file; the file itself is well
        name="weights-only",
        reason="python_exception",
        pattern=LazyPattern(r"Weights only load failed|WeightsUnpickler error: Unsupported"),
        unless=LazyPattern(
            r"invalid load key|truncated|Ran out of input|Unsupported operand|stack underflow"
        ),
        errors_only=True,
        confidence=0.8,
        suggestion=(
            "The file holds more than tensors, and torch.load refuses it by default since 2.6: "
            "pass weights_only=False for a file you trust, or allow the class it names."
        ),
        positives=(
            "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to",
            "_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, we changed the",
        ),
        negatives=("_pickle.UnpicklingError: invalid load key, 'v'.",),
    ),
    Rule(
        name="broken-archive",
        reason="checkpoint_corrupt",
        pattern=LazyPattern(
            r"failed finding central directory|invalid header or archive is corrupted"
            r"|PytorchStreamReader failed (?:reading|locating)"
            r"|Error while deserializing header|Error while deserializing: \w{4,40}"
            r"|MetadataIncompleteBuffer|InvalidHeaderDeserialization|HeaderToo(?:Large|Small)"
            r"|unexpected EOF, expected \d{1,20} more bytes|storage has wrong (?:byte )?size"
            r"|Invalid magic number; corrupt file|[Cc]heckpoint .{0,120}(?:is|seems|appears"
            r"|may be|looks)"
            r" (?:to be )?(?:corrupt|truncated|incomplete|damaged)"
            r"|[Cc]orrupt(?:ed)? checkpoint|cloned a repository without having git-lfs"
            r"|not an sstable \(bad magic number\)|Checksum does not match: stored"
            r"|[Dd]ata ?[Ll]oss(?:Error)?: .{0,80}(?:checkpoint|table file|block checksum)"
            r"|Consistency check failed: file should be of size"
            r"|model_proto->ParseFromArray"
            r"|Load model from .{1,200} failed: ?Protobuf parsing failed"
            r"|Unable to load weights from (?:pytorch|safetensors|tf) checkpoint file"
        ),
        unless=LazyPattern(
            r"\b(?:skipping|falling back|ignoring|trying (?:the )?(?:previous|older))\b"
        ),
        of_a_file=True,
        confidence=0.92,
        positives=(
            (
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
                "central directory"
            ),
            "RuntimeError: PytorchStreamReader failed reading file data/12: file read failed",
            (
                "RuntimeError: unexpected EOF, expected 2359296 more bytes. The file "
                "might be corrupted."
            ),
            "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
            (
                "SafetensorError: Error while deserializing header: incomplete metadata, "
                "file not fully"
            ),
            "RuntimeError: storage has wrong byte size: expected 4096 got 512",
            "RuntimeError: Invalid magic number; corrupt file?",
            (
                "tensorflow.python.framework.errors_impl.DataLossError: Unable to open table file "
                "m.ckpt: Data loss: not an sstable (bad magic number): perhaps your file is in a"
            ),
            (
                "OSError: Unable to load weights from pytorch checkpoint file for 'm' at "
                "'m/pytorch.bin'."
            ),
            "OSError: Consistency check failed: file should be of size 4983508568 but has size 128",
            (
                "RuntimeError: Internal: [model_proto->ParseFromArray(serialized.data(), "
                "serialized.size())]"
            ),
            "Load model from m.onnx failed:Protobuf parsing failed.",
            "AssertionError: corrupt checkpoint at step 4000",
        ),
        negatives=(
            "checkpoint step_100 is corrupt, falling back to step_90",
            "checksum of checkpoint verified",
            "corrupted samples: 0",
        ),
    ),
    Rule(
        name="truncated-pickle",
        reason="checkpoint_corrupt",
        pattern=LazyPattern(
            r"(?:Unpickling|EOF)Error: Ran out of input|pickle data was truncated"
            r"|UnpicklingError: (?:invalid load key|unpickling stack underflow|could not find MARK"
            r"|unexpected MARK found|Memo value not found|bad pickle)|invalid load key, '"
            r"|_pickle\.UnpicklingError: |^(?:\w{1,40}\.){0,6}DecodeError: Error parsing message"
            r"|DATA_LOSS: |Unpack failed: incomplete input|unpack\(b\) received extra data"
            r"|^msgpack\.\w{0,30}\.?(?:ExtraData|OutOfData|FormatError|StackError)"
        ),
        unless=LazyPattern(r"(?:truncated|corrupted) record"),
        errors_only=True,
        of_a_file=True,
        confidence=0.85,
        positives=(
            "_pickle.UnpicklingError: pickle data was truncated",
            "_pickle.UnpicklingError: invalid load key, '<'.",
            "_pickle.UnpicklingError: Weights only load failed. invalid load key, 'v'.",
            "EOFError: Ran out of input",
            "ValueError: Unpack failed: incomplete input",
            "google.protobuf.message.DecodeError: Error parsing message",
            "ValueError: DATA_LOSS: Error reading 0.1.0 in OCDBT database: checksum mismatch",
        ),
        negatives=(
            "RuntimeError: header too large",
            "pickle.PicklingError: Can't pickle <function f>",
            "OSError: Unable to open file (truncated file: eof = 512, sblock->base_addr = 0)",
            "OSError: Unable to open file (unable to open file: name = 'x.h5', errno = 2)",
        ),
    ),
    Rule(
        # an error without a word of its own, raised while weights are read
        name="load-call",
        reason="checkpoint_corrupt",
        pattern=LazyPattern(
            r"^(?:EOFError:?|OSError: \[Errno 22\].{0,40}|struct\.error:?.{0,60}) .{0,800}"
            r"(?:PyTorchFileReader|_weights_only_unpickler|torch\.load\(|pickle\.load\("
            r"|safe_open\(|load_file\(|load_weights\(|load_model\(|load_state_dict\()"
        ),
        errors_only=True,
        confidence=0.8,
        positives=(
            "EOFError: saved = torch.load('last.pt')",
            "OSError: [Errno 22] Invalid argument torch._C.PyTorchFileReader(name_or_buffer)",
        ),
        negatives=("EOFError", "EOFError: EOF when reading a line"),
    ),
)

RULES = (*_CHECKPOINT_MISMATCH, *_CHECKPOINTS)
