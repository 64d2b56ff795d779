"""What is not installed, or cannot be imported at all."""

from schedmate.handler.rules.named import by_name

RULES = (
    by_name("import_error", "ModuleNotFoundError", "ImportError", example="No module named 'x'"),
    by_name(
        "syntax_error", "SyntaxError", "IndentationError", "TabError", example="invalid syntax"
    ),
)
