"""What calls of libraries mean. To add a library: a file beside this one, its idiom here."""

from schedmate.advisor.frameworks.base import Idiom
from schedmate.advisor.frameworks.other_worlds import OTHER_WORLDS
from schedmate.advisor.frameworks.pytorch_world import PYTORCH_WORLD

IDIOMS: tuple[Idiom, ...] = (*PYTORCH_WORLD, *OTHER_WORLDS)
