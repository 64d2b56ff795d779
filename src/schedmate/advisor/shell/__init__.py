"""Shell scripts, read but never run: directives, variables, and the commands they end in."""

from schedmate.advisor.shell.commands import Command, ShellScript
from schedmate.advisor.shell.directives import Asked, read_directives
from schedmate.advisor.shell.scope import Surroundings
from schedmate.advisor.shell.walk import walk
from schedmate.advisor.shell.words import Word, command_words

__all__ = [
    "Asked",
    "Command",
    "ShellScript",
    "Surroundings",
    "Word",
    "command_words",
    "read_directives",
    "walk",
]
