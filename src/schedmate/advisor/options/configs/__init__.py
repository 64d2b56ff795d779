"""Config files as values whose every leaf has its file and line.

`read` takes any of the formats, `merge` puts one config over another (`_delete_` understood),
`inherit` follows `_base_` and `_BASE_`, `resolve` fills in OmegaConf's `${…}`, `select`, `assign`
and `remove` work on dotted names, `parse_value` reads what stands on a command line. For hydra's
`compose` see `hydra.py`.
"""

from schedmate.advisor.options.configs.hydra import compose
from schedmate.advisor.options.configs.hydra_arguments import HydraArguments, read_arguments
from schedmate.advisor.options.configs.inheritance import inherit
from schedmate.advisor.options.configs.interpolation import resolve
from schedmate.advisor.options.configs.merging import assign, merge, remove, select
from schedmate.advisor.options.configs.reading import parse_value, read

__all__ = [
    "HydraArguments",
    "assign",
    "compose",
    "inherit",
    "merge",
    "parse_value",
    "read",
    "read_arguments",
    "remove",
    "resolve",
    "select",
]
