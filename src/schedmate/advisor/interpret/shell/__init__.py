"""Shell scripts, read but never run: directives, variables, and the commands they end in."""

from schedmate.advisor.interpret.shell.commands import Command, ShellScript, in_common
from schedmate.advisor.interpret.shell.directives import Asked, read_directives
from schedmate.advisor.interpret.shell.scope import Surroundings
from schedmate.advisor.interpret.shell.walk import walk
from schedmate.advisor.interpret.shell.words import Word, command_words

__all__ = [
    "Asked",
    "Command",
    "ShellScript",
    "Surroundings",
    "Word",
    "command_words",
    "in_common",
    "read_directives",
    "walk",
]
