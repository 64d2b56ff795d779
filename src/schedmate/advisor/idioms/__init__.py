"""What calls of libraries mean. To add a library: a file beside this one, its idiom here."""

from schedmate.advisor.idioms.base import Idiom

IDIOMS: tuple[Idiom, ...] = ()
