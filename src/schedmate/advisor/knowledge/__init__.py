"""What is known of models by their names alone."""

from schedmate.advisor.knowledge.models import ModelFacts, facts_of

__all__ = ["ModelFacts", "facts_of"]
