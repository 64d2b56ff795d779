"""From the bytes of all logs to clues: which rule matched what, where, when and in which rank."""

from schedmate.handler.reading.clues import LATE, Clue, Gathered
from schedmate.handler.reading.deadline import TakesLong
from schedmate.handler.reading.gathering import gather
from schedmate.handler.reading.lines import LogLine

__all__ = ["LATE", "Clue", "Gathered", "LogLine", "TakesLong", "gather"]
