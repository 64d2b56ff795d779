"""With whose rights a job's files are read: the owner's, however many rights this process has.

A log, a script or a config is named by the job's owner, and lines of it are shown, stored and
sent to a model. `files_of(user)` gives the only way to read them.
"""

from schedmate.files.base import Reader, Status
from schedmate.files.choosing import files_of
from schedmate.files.listing import DirectoryEntry, entries, is_directory, is_file, mode_of
from schedmate.files.own import INVOKER, place_of

__all__ = [
    "INVOKER",
    "DirectoryEntry",
    "Reader",
    "Status",
    "entries",
    "files_of",
    "is_directory",
    "is_file",
    "mode_of",
    "place_of",
]
