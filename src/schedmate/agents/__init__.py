"""What agents share: a model that reads on in a job's directory, and quotes that are checked."""

from schedmate.agents.desk import DirectoryDesk
from schedmate.agents.loop import Bounds, Desk, Talk, read_on
from schedmate.agents.quotes import Quote, found_at

__all__ = ["Bounds", "Desk", "DirectoryDesk", "Quote", "Talk", "found_at", "read_on"]
