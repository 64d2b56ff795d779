"""Config files as values whose every leaf has its file and line.

`read` takes any of the formats, `merge` puts one config over another (`_delete_` understood),
`inherit` follows `_base_` and `_BASE_`, `resolve` fills in OmegaConf's `${…}`. For hydra see
`compose`.
"""

from schedmate.advisor.configs.reading import read

__all__ = ["read"]
