"""Files, checkpoints, models and datasets that are not where the job looks for them."""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight, any_of, typed

_COMMANDS = (
    r"nvcc|ninja|git|ffmpeg|ffprobe|java|gcc|g\+\+|c\+\+|cmake|make|sox|wget|curl|aria2c|docker"
    r"|nvidia-smi|which|unzip|tar|srun|sbatch|torchrun|deepspeed|mpirun|pdsh|ssh|module|conda"
)
_HUB = (
    r"is not a local folder and is not a valid model identifier|is not a valid model identifier",
    (
        r"Can't load (?:the )?(?:config|tokenizer|model|feature extractor|image processor"
        r"|processor|weights)"
    ),
    r"Error no file named|does not appear to have (?:a|any) files? named",
    r"Can't find '\w{1,40}\.json' at",
    r"Repo id must be in the form",
    r"(?:Entry|Repository|Revision|Dataset|DataFiles|LocalEntry)NotFoundError",
    r"Can't find a valid checkpoint at|No valid checkpoint found|Couldn't find a dataset script",
    r"\[E050\] Can't find model|Resource \S{0,20}\w{1,40}\S{0,12} not found|OfflineModeIsEnabled",
)
_THING = (
    r"(?:[Ff]iles?|[Pp]ath|[Dd]ir(?:ectory)?|[Ff]older|[Cc]heckpoint|[Cc]kpt|[Dd]ataset|[Ww]eights"
    r"|[Vv]ocab(?:ulary)?|[Rr]oot|[Aa]rchive|[Mm]anifest)"
)
_ABSENT = (
    r"(?:(?:does not|doesn't|do not|don't|not) exists?|not found"
    r"|(?:could|can)(?:not|n't| not) (?:be )?"
    r"(?:found|locate|find|opened)|is missing|non-?existent|no longer exists)"
)
_NO_FILE = r"(?:\.so\b|shared object|No module named|api_key|\bAPI\b|KeyError: ')"

RULES = (
    Rule(
        # what a dying parent or launcher has taken away with it
        name="vanished-file",
        reason="python_exception",
        pattern=LazyPattern(
            r"^FileNotFoundError: .{0,80}'(?:/\w{1,20}){0,4}/(?:pymp-|torch_\d|__KMP|torchelastic_"
            r"|sem\.mp-|psm_)|^FileNotFoundError: \[Errno 2\] No such file or directory$"
        ),
        errors_only=True,
        confidence=0.4,
        weight=Weight.SYMPTOM,
        positives=(
            "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pymp-a1/listener-b'",
            "FileNotFoundError: [Errno 2] No such file or directory: '/torch_4711_12'",
            "FileNotFoundError: [Errno 2] No such file or directory",
        ),
        negatives=(
            "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/data/train.bin'",
        ),
    ),
    Rule(
        name="python-subprocess",
        reason="command_not_found",
        pattern=LazyPattern(
            r"^FileNotFoundError: \[Errno 2\] No such file or directory: b?'(?:[\w./\-]{0,120}/)?"
            rf"(?:{_COMMANDS})'|^(?:[\w.]{{1,80}}\.)?ExecutableNotFound"
        ),
        errors_only=True,
        confidence=0.88,
        positives=(
            "FileNotFoundError: [Errno 2] No such file or directory: 'ninja'",
            "FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'",
            "FileNotFoundError: [Errno 2] No such file or directory: 'git'",
            "FileNotFoundError: [Errno 2] No such file or directory: 'ffprobe'",
            "graphviz.backend.execute.ExecutableNotFound: failed to execute PosixPath('dot')",
        ),
        negatives=(
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/git.txt'",
            "FileNotFoundError: [Errno 2] No such file or directory: 'train.csv'",
        ),
    ),
    Rule(
        name="python-launcher",
        reason="command_not_found",
        pattern=LazyPattern(r"^\w{1,60}Error: launcher '[\w.-]{1,40}' (?:is )?not installed"),
        errors_only=True,
        confidence=0.9,
        positives=("RuntimeError: launcher 'pdsh' not installed.",),
        negatives=("RuntimeError: launcher 'pdsh' failed",),
    ),
    Rule(
        name="model-hub",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"LocalEntryNotFoundError: .{0,300}(?:[Cc]heck your (?:internet )?connection"
            r"|error happened"
            r"|outgoing traffic)"
        ),
        errors_only=True,
        confidence=0.8,
        positives=(
            (
                "huggingface_hub.errors.LocalEntryNotFoundError: An error happened while trying to "
                "locate the file on the Hub and we cannot find the requested files in the local "
                "cache. Please check your connection and try again."
            ),
        ),
        negatives=("huggingface_hub.errors.EntryNotFoundError: 404 Client Error.",),
    ),
    Rule(
        name="exception",
        reason="file_not_found",
        pattern=any_of(
            typed("FileNotFoundError", "NotADirectoryError", "IsADirectoryError", "NoSuchKey"),
            r"No such file or directory|\[Errno 2\]|errno ?= ?2\b",
            r"Parent directory \S{1,200} does not",
            r"[Ff]ailed to open file|[Cc]an't open (?:input )?file",
            r"[Nn]ot [Ff]ound:? {0,3}\S{0,200}/\w",
            r"[Mm]issing (?:\w{1,20} ){0,4}\S{0,160}/\S{1,160}\.\w{2,12}\b",
            r"\b404 Client Error|HTTP Error 404|\(404\) when calling|\bNoSuchKey\b|NoSuchBucket",
            (
                r"^(?:[\w.]{1,120}\.)?NotFoundError: .{0,200}(?:[Ff]ile|[Pp]ath|directory"
                r"|[Cc]heckpoint)"
            ),
            *_HUB,
        ),
        unless=LazyPattern(
            rf"{_NO_FILE}|checkpoint .{{0,80}}key|Key \S{{1,200}} not found in checkpoint"
        ),
        errors_only=True,
        confidence=0.9,
        positives=(
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'",
            "NotADirectoryError: [Errno 20] Not a directory: 'data.zip/train'",
            "OSError: [Errno 2] No such file or directory: '/ckpt/step_100'",
            "RuntimeError: Parent directory /scratch/out does not exist.",
            (
                "OSError: llama-7b is not a local folder and is not a valid model identifier "
                "listed "
                "on 'https://huggingface.co/models'"
            ),
            (
                "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' "
                "or 'namespace/repo_name': '/data/models/llama'."
            ),
            (
                "OSError: Error no file named pytorch_model.bin, model.safetensors found in "
                "directory out."
            ),
            "OSError: Can't load tokenizer for 'out/ckpt'. If you were trying to load it from",
            (
                "huggingface_hub.errors.EntryNotFoundError: 404 Client Error. (Request ID: Root=1) "
                "Entry Not Found for url: https://x/y."
            ),
            "ValueError: Can't find 'adapter_config.json' at 'out/lora'",
            "datasets.exceptions.DatasetNotFoundError: Dataset 'x/y' doesn't exist on the Hub",
            (
                "tensorflow.python.framework.errors_impl.NotFoundError: /data/train.tfrecord; No "
                "such file or directory"
            ),
            "ValueError: Can't find a valid checkpoint at out/checkpoint-500",
            "AssertionError: Image Not Found  /data/images/a.jpg",
            "AssertionError: Missing init model /home/u/snapshots/model_1500.pth",
            "RuntimeError: Error loading audio file: failed to open file a/b.wav",
        ),
        negatives=(
            "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
            "KeyError: 'file'",
            "ValueError: BuilderConfig 'x' not found. Available: ['default']",
        ),
    ),
)

WORDED = (
    Rule(
        # asked after the services, which speak of missing files as well
        name="worded-message",
        reason="file_not_found",
        pattern=LazyPattern(
            rf"^(?:[\w.]{{1,120}}\.)?\w{{0,60}}(?:Error"
            rf"|Exception): .{{0,160}}\b{_THING}\b.{{0,160}}"
            rf"\b{_ABSENT}|^(?:[\w.]{{1,120}}\.)?\w{{0,60}}(?:Error|Exception): .{{0,80}}"
            rf"(?:[Nn]o such|[Nn]o|[Cc]ould ?n[o']t (?:find|open)|[Cc]annot (?:find|open)) "
            rf"(?:\w{{1,20}} ){{0,3}}{_THING}\b"
        ),
        unless=LazyPattern(
            rf"{_NO_FILE}|[Kk]ey|column|[Cc]onfig(?:uration)? (?:option|value)|descriptor"
        ),
        errors_only=True,
        confidence=0.75,
        positives=(
            "AssertionError: Checkpoint path out/last.ckpt does not exist",
            "ValueError: dataset file data/train.jsonl not found",
            "RuntimeError: Cannot find checkpoint in out/",
            "Exception: Could not find vocab file for bert",
            "ValueError: Instance images root doesn't exists.",
        ),
        negatives=(
            "RuntimeError: bad file descriptor",
            "ValueError: the dataset has too few columns",
            "KeyError: 'dataset not found'",
        ),
    ),
)
