"""How much SchedMate does by itself."""

from typing import Literal

Mode = Literal["observe", "assist", "act"]
