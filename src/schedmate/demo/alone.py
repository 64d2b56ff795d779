"""A verb without the settings of the site: python -m schedmate.demo.alone serve --port 8080

On a head node these name the site's database, sockets and channels for messages; a demo has nothing
to do with them.
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path

from schedmate import config


def alone_settings() -> config.Settings:
    """What the environment says, and nothing else."""
    config.SITE_FILE = Path(os.devnull)
    return config.load()


if __name__ == "__main__":
    alone_settings()
    runpy.run_module("schedmate", run_name="__main__", alter_sys=True)
