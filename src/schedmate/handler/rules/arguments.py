"""Command lines and configs that the program does not accept."""

from schedmate.handler.rules.base import LazyPattern, Rule, any_of, typed

_FLAG = r"--[a-zA-Z][\w\-.]{1,60}"
_REFUSES = (
    r"(?:must|requires?|required|cannot|can't|should|invalid|is not|are not|expects?|needs?"
    r"|incompatible|conflicts?|mutually exclusive|not (?:supported|allowed|valid))"
)
_DEMANDS = (
    r"(?:must|[Ii]nvalid|[Uu]nknown|[Mm]issing|[Rr]equired?s?|[Ss]pecify|[Cc]annot use|[Nn]eed)"
)

RULES = (
    Rule(
        name="argparse",
        reason="argument_error",
        pattern=LazyPattern(
            r"^\S{0,200}(?: [\w\-]{1,40}){0,2}:? ?error: (?:[Uu]nrecognized arguments"
            r"|ambiguous option|the following arguments are required|one of the arguments"
            r"|argument \S|invalid choice|expected (?:one|at least one|\d{1,3}) argument"
            r"|(?:'?Configuration check failed|Parser key|[Vv]alidation failed|Key \"|Problem with)"
            r"|no such option|option \S{1,60}|unrecognized|too few arguments|unknown option"
            r"|unexpected argument)"
        ),
        confidence=0.95,
        positives=(
            "train.py: error: unrecognized arguments: --epochz 3",
            "train.py: error: argument --lr: invalid float value: 'fast'",
            "train.py: error: the following arguments are required: --data",
            "usage.py fit: error: argument command: invalid choice: 'fitt' (choose from 'fit')",
            "torchrun: error: unrecognized arguments: --nproc",
            "error: Parser key \"model.lr\": Expected a <class 'float'>. Got value: fast",
            "error: unrecognized arguments: --foo",
            "train.py: error: argument --config: expected one argument",
        ),
        negatives=(
            "validation error: 0.31",
            "train.py: error: 0.2",
            "a.cpp:3:1: error: expected ';' before 'return'",
        ),
    ),
    Rule(
        name="click",
        reason="argument_error",
        pattern=LazyPattern(
            r"^(?:Error: |[│|] {0,4})(?:No such (?:option|command)|Missing (?:option|argument"
            r"|parameter|command)|Invalid value(?: for)?\b|Got unexpected extra argument"
            r"|Unrecognized (?:options|arguments)|Option '?\S{1,60} (?:requires|does not take)"
            r"|Missing from|Required options)"
            r"|^ERROR: (?:Could not consume arg|The function received no value for the required"
            r"|Cannot find key: )"
            r"|FATAL Flags parsing error|^[\w./\-]{1,120}: (?:unrecognized|invalid|unknown) option "
            r"|^[Uu]nknown option:? -|: option requires an argument -- '"
        ),
        confidence=0.94,
        positives=(
            "Error: No such option: --epochz",
            "Error: Missing option '--data'.",
            "Error: Invalid value for '--lr': 'fast' is not a valid float.",
            "│ No such option: --epochz Did you mean --epochs?                            │",
            "ERROR: Could not consume arg: --epochz",
            "FATAL Flags parsing error: Unknown command line flag 'epochz'. Did you mean: epochs?",
            "unknown option --local-rank=0",
            "sbatch: unrecognized option '--gpu'",
        ),
        negatives=(
            "Error: the loss rose",
            "missing option value, using the default",
            "ERROR: 0 failed",
        ),
    ),
    Rule(
        # hydra prints these without a traceback
        name="hydra",
        reason="argument_error",
        pattern=LazyPattern(
            r"^Could not override '[^']{1,200}'|^(?:Error|error) (?:parsing|merging) override "
            r"|^In '[\w./\-]{1,120}': (?:Could not find '|Error|ConfigKey|You must)"
            r"|^You must specify '[\w./@\-]{1,80}', e\.g"
            r"|^Cannot find primary config '|^Primary config (?:module|directory) (?:'|not found)"
            r"|^Missing mandatory value: |^Key '[^']{1,80}' (?:is not in struct|not in ')"
            r"|^Could not append to config|^Ambiguous value for argument '"
            r"|^Interpolation key '[^']{1,80}' not found|^Value '.{1,80}' (?:of type '\w{1,20}' )?"
            r"could not be converted to "
        ),
        confidence=0.92,
        positives=(
            "Could not override 'trainer.max_epochz'.",
            "In 'config': Could not find 'model/resnt'",
            "You must specify 'lightning_module', e.g, lightning_module=<OPTION>",
            "Cannot find primary config 'confg'. Check that it's in your config search path.",
            "Missing mandatory value: data.path",
            "Key 'lrr' is not in struct",
            "Error parsing override '=3'",
        ),
        negatives=("Could not find a faster kernel", "You must specify more in future versions"),
    ),
    Rule(
        # the scheduler turns the request down before anything runs
        name="slurm-option",
        reason="argument_error",
        pattern=LazyPattern(
            r"^(?:sbatch|srun|salloc|scontrol): (?:error|fatal): .{0,200}(?:[Ii]nvalid"
            r"|not available"
            r"|not permitted|[Uu]nable to (?:parse|process)|unrecognized|more (?:processors"
            r"|nodes|cpus)"
            r"|can not be satisfied|[Rr]equested .{1,60}(?:not|exceeds))"
            r"|^(?:qsub|bsub): .{0,80}(?:[Ii]llegal|[Ii]nvalid|[Uu]nknown|Bad)"
        ),
        unless=LazyPattern(r"[Ii]nvalid job id|Socket timed out|credential"),
        confidence=0.9,
        positives=(
            (
                "sbatch: error: Batch job submission failed: Invalid generic resource (gres) "
                "specification"
            ),
            (
                "srun: error: Unable to create step for job 17: Requested node configuration is "
                "not available"
            ),
            "sbatch: error: invalid partition specified: gpuu",
            "srun: error: Unable to allocate resources: Invalid qos specification",
            "qsub: Illegal attribute or resource value Resource_List.ngpus",
        ),
        negatives=("srun: error: n1: task 0: Exited with exit code 1", "srun: job 17 queued"),
    ),
    Rule(
        name="config-exception",
        reason="argument_error",
        pattern=any_of(
            r"^(?:[\w.]{1,120}\.)?\w{0,40}(?:Config(?:uration)?\w{0,20}|Misconfiguration"
            r"|Flag\w{0,20}"
            r"|Option|Argument|Usage|Settings?|Hyperparameter\w{0,12})(?:Error|Exception)(?::|$)",
            typed("ConfigKeyError", "MissingMandatoryValue", "InterpolationKeyError"),
            typed("InterpolationResolutionError", "UnsupportedInterpolationType", "NoSuchOption"),
            r"ValidationError: \d{1,4} validation error|InterpolationToMissingValueError",
            r"^omegaconf\.errors\.|^hydra\.errors\.(?:Missing|Override|HydraExc|Config)",
            r"^yaml\.\w{1,20}\.\w{1,40}Error|TOMLDecodeError|Could not override '",
            r"^(?:configparser|jsonargparse|draccus|tyro|simple_parsing|gin|fire)\.\S{0,80}(?::|$)",
            r"not used by the HfArgumentParser|Check batch related parameters",
            r"^jsonschema\.\S{0,60}ValidationError|^marshmallow\.\S{0,60}ValidationError",
            r"Error locating target '",
        ),
        unless=LazyPattern(r"Error in call to target|InvalidArgumentError|api_key|login"),
        errors_only=True,
        confidence=0.9,
        positives=(
            "omegaconf.errors.ConfigAttributeError: Key 'lrr' is not in struct",
            "yaml.scanner.ScannerError: mapping values are not allowed here",
            "pydantic_core._pydantic_core.ValidationError: 2 validation errors for TrainConfig",
            "hydra.errors.MissingConfigException: Cannot find primary config 'confg'",
            "absl.flags._exceptions.UnrecognizedFlagError: Unknown command line flag 'epochz'",
            "ValueError: Some keys are not used by the HfArgumentParser: ['epochz']",
            (
                "lightning.fabric.utilities.exceptions.MisconfigurationException: You requested "
                "gpu: [0, 1] But your machine only has: [0]"
            ),
            "deepspeed.runtime.config.DeepSpeedConfigError: train_batch_size is missing",
            (
                "AssertionError: Check batch related parameters. train_batch_size is not equal to "
                "micro_batch_per_gpu * gradient_acc_step * world_size 64 != 8 * 1 * 4"
            ),
            "tomllib.TOMLDecodeError: Expected '=' after a key in a key/value pair",
        ),
        negatives=("KeyError: 'config'", "wandb.errors.UsageError: api_key not configured"),
    ),
    Rule(
        # the type is one of Python's, but the message names a flag or a setting
        name="named-option",
        reason="argument_error",
        pattern=any_of(
            rf"^(?:Value|Assertion|Runtime|Key|Type|System)?(?:Error|Exit"
            rf"|Exception): .{{0,200}}{_FLAG}"
            rf".{{0,60}}\b{_REFUSES}\b",
            rf"^(?:Value|Assertion|Runtime|Key)?(?:Error"
            rf"|Exception): .{{0,120}}\b{_DEMANDS}\b.{{0,60}}"
            rf"{_FLAG}",
            r"^(?:Value|Assertion|Runtime|Key)?(?:Error|Exception): .{0,80}(?:[Ii]nvalid|[Uu]nknown"
            r"|[Mm]issing|[Uu]nsupported|[Uu]nexpected|[Rr]equired|[Bb]ad|[Ii]llegal) "
            r"(?:\w{1,20} )?"
            r"(?:config|option|flag|hyper-?parameter|setting|command.line|argument|field)",
            r"^(?:Value|Assertion|Runtime|Key)?(?:Error|Exception): .{0,80}\b[Cc]onfig"
            r"(?:uration)?s?"
            r"(?: file| key| value| field| entry| option)?['\"\]]? .{0,60}"
            r"(?:missing|invalid|must|should|mismatch|conflict|not (?:found|valid|set|specified"
            r"|contain|supported)"
            r"|requires?|n't have)",
            r"not a valid (?:config|option|argument|flag|setting|choice)\b",
            r"\b(?:in|from) (?:the |your )?(?:config|configuration|yaml|hparams)(?: file)?\b",
        ),
        unless=LazyPattern(
            r"configuration class|unexpected keyword|config\.json|pip install|gated"
        ),
        errors_only=True,
        confidence=0.75,
        positives=(
            "ValueError: --load_best_model_at_end requires the save and eval strategy to match",
            "ValueError: You must specify --tokenizer_name when training from scratch",
            "ValueError: Unknown config option 'lrr'",
            (
                "ValueError: Please correct the following DeepSpeed config values that mismatch "
                "TrainingArguments values:"
            ),
            "KeyError: \"missing key 'lr' in config\"",
            "AssertionError: config must set either max_steps or epochs",
            "RuntimeError: Invalid setting: warmup longer than training",
        ),
        negatives=(
            "KeyError: 'lr'",
            "TypeError: f() got an unexpected keyword argument 'x'",
            "ValueError: Unrecognized configuration class <class 'A'> for this kind of AutoModel",
        ),
    ),
)
