"""What a model is shown of a job: little text that carries every field, with files and lines."""

from schedmate.advisor.slice.slicing import slice_of

__all__ = ["slice_of"]
