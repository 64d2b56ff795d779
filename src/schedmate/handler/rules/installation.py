"""What is not installed, or installed otherwise than the code needs it."""

from schedmate.handler.rules.base import LazyPattern, Rule, any_of, by_name, typed

RULES = (
    Rule(
        name="python-launcher",
        reason="import_error",
        pattern=LazyPattern(
            r"^\S{0,200}python[\d.]{0,5}: No module named \S"
            r"|^\S{0,200}python[\d.]{0,5}: Error while finding module specification for '"
        ),
        confidence=0.95,
        positives=(
            "/usr/bin/python3: No module named torch.distributed.run",
            "python: No module named accelerate",
            (
                "python: Error while finding module specification for 'train.main' "
                "(ModuleNotFoundError: No module named 'train')"
            ),
        ),
        negatives=("apex: No module named apex, using torch", "python 3.11: no module missing"),
    ),
    Rule(
        name="exception",
        reason="import_error",
        pattern=any_of(
            typed(
                "ModuleNotFoundError",
                "ImportError",
                "DistributionNotFound",
                r"\w{0,20}VersionConflict",
            ),
            typed("PackageNotFoundError", "DependencyNotFoundError", "ZipImportError"),
            r"Failed to import \w[\w.]{0,160} because of the following error",
            r"^(?:Runtime|Value|Name|Assertion|OS|NotImplemented)?(?:Error|Exception): .{0,300}"
            r"(?:\bis not installed|(?:[Pp]lease|need to|[Tt]ry|must) (?:first )?(?:pip )?install\b"
            r"|`?pip3? install |conda install )",
        ),
        errors_only=True,
        confidence=0.9,
        positives=(
            "ModuleNotFoundError: No module named 'flash_attn'",
            "ImportError: cannot import name 'LlamaFlashAttention2' from 'transformers'",
            (
                "ImportError: Using the `Trainer` with `PyTorch` requires `accelerate>=0.26.0`: "
                "Please run `pip install transformers[torch]`"
            ),
            (
                "importlib.metadata.PackageNotFoundError: No package metadata was found for "
                "bitsandbytes"
            ),
            "pkg_resources.DistributionNotFound: The 'tqdm>=4.27' distribution was not found",
            (
                "RuntimeError: Failed to import transformers.models.llama because of the following "
                "error (look up to see its traceback):"
            ),
            "RuntimeError: DeepSpeed is not installed, run pip install deepspeed",
        ),
        negatives=(
            "ImportErrorCounter: 2",
            "ValueError: the hook is installed twice",
            "RuntimeError: could not import",
        ),
    ),
    by_name(
        "syntax_error",
        "SyntaxError",
        "IndentationError",
        "TabError",
        confidence=0.95,
        examples=("invalid syntax", "invalid syntax. Perhaps you forgot a comma?", "EOL while"),
    ),
)
