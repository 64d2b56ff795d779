"""The one way to ask a language model: any OpenAI-compatible endpoint, or the embedded model."""

from schedmate.llm.opening import open_asker

__all__ = ["open_asker"]
