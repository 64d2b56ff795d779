"""What calls of libraries mean. To add a library: a file beside this one, its reader here."""

from schedmate.advisor.frameworks.base import Reader
from schedmate.advisor.frameworks.other_worlds import OTHER_WORLDS
from schedmate.advisor.frameworks.pytorch_world import PYTORCH_WORLD

READERS: tuple[Reader, ...] = (*PYTORCH_WORLD, *OTHER_WORLDS)
