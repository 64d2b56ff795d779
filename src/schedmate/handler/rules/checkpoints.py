"""Checkpoints and weights that cannot be read."""

from schedmate.handler.rules.base import Lazy, Rule

RULES = (
    Rule(
        # the loader refuses to run code of the file; the file itself is well
        name="weights-only",
        reason="python_exception",
        pattern=Lazy(r"Weights only load failed|WeightsUnpickler error: Unsupported"),
        unless=Lazy(
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
        pattern=Lazy(
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
        unless=Lazy(r"\b(?:skipping|falling back|ignoring|trying (?:the )?(?:previous|older))\b"),
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
        pattern=Lazy(
            r"(?:Unpickling|EOF)Error: Ran out of input|pickle data was truncated"
            r"|UnpicklingError: (?:invalid load key|unpickling stack underflow|could not find MARK"
            r"|unexpected MARK found|Memo value not found|bad pickle)|invalid load key, '"
            r"|[Uu]nable to (?:synchronously )?open (?:file|object) \((?:truncated|wrong"
            r"|bad|invalid|addr"
            r" overflow|file signature not found|unable to read superblock)"
            r"|_pickle\.UnpicklingError: |^(?:\w{1,40}\.){0,6}DecodeError: Error parsing message"
            r"|DATA_LOSS: "
        ),
        errors_only=True,
        confidence=0.85,
        positives=(
            "_pickle.UnpicklingError: pickle data was truncated",
            "_pickle.UnpicklingError: invalid load key, '<'.",
            "_pickle.UnpicklingError: Weights only load failed. invalid load key, 'v'.",
            "EOFError: Ran out of input",
            "OSError: Unable to open file (truncated file: eof = 512, sblock->base_addr = 0)",
            "OSError: Unable to synchronously open file (file signature not found)",
            "OSError: Unable to open file (wrong B-tree signature)",
            "google.protobuf.message.DecodeError: Error parsing message",
            "ValueError: DATA_LOSS: Error reading 0.1.0 in OCDBT database: checksum mismatch",
        ),
        negatives=(
            "RuntimeError: header too large",
            "pickle.PicklingError: Can't pickle <function f>",
            "OSError: Unable to open file (unable to open file: name = 'x.h5', errno = 2)",
        ),
    ),
    Rule(
        # an error without a word of its own, raised while weights are read
        name="load-call",
        reason="checkpoint_corrupt",
        pattern=Lazy(
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
