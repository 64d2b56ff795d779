"""Read one log block by block, from one alarming line to the next; lines between them are calm.

One automaton of all rules finds alarming lines at the speed of a disk.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Final

from schedmate.handler.reading.clues import (
    Clue,
    ClueCollector,
    Episode,
    Harmless,
    KnownLines,
    LogPosition,
    Verdict,
)
from schedmate.handler.reading.deadline import Deadline, TakesLong
from schedmate.handler.reading.epilogue import split_epilogue
from schedmate.handler.reading.explaining import explain_line
from schedmate.handler.reading.lines import (
    DIGITS,
    Block,
    LogLine,
    blocks,
    is_text,
    is_written,
    pieces,
    read_line,
    without_encoded,
)
from schedmate.handler.reading.liveness import LivenessWatch, Routine, is_clearing_up, is_stack
from schedmate.handler.reading.origin import Origin
from schedmate.handler.reading.prefilter import prefilter_of
from schedmate.handler.reading.tracebacks import TracebackCollector
from schedmate.handler.rules import Rule, RuleSet

_TAIL_LINES: Final = 30
_TAIL_BYTES: Final = 1 << 16
_CROWDED: Final = 1024
"""Alarming lines of one block after which each of its lines is looked up."""
_MOST_UNKNOWN: Final = 4
"""A block of which at most every fourth line was new is followed by another one like it."""
_MOST_EFFORT: Final = 120_000
"""What may be spent on lines that are all alarming and all new, in about 2 us each; ..."""
_EFFORT_PER_BLOCK: Final = 400
"""... it grows again by this, and when it is spent a block's beginning and end are samples."""
_EFFORT_AT_END: Final = 80_000
_EFFORT_OF_LINE: Final = 4
_EFFORT_OF_NOTE: Final = 16
_LAST_BLOCKS: Final = 2
_CLOSELY_BLOCKS: Final = 512
_CROWDED_BLOCK: Final = 5
"""A block that is full of alarms counts as so many."""
_LAST_BLOCKS_OF_HUGE: Final = 64
"""A quarter of a gigabyte is read closely, 50 megabytes if it is full of alarms, ..."""
_SEARCHED_BLOCKS: Final = 4096
_ALARMED_BLOCKS: Final = 16
"""... then so many blocks with an alarm of the next two gigabytes, and the last 32 megabytes."""
_RESTART: Final = re.compile(r"DUE TO JOB REQUEUE|attempts left; will restart worker group")
_LOOK_BACK: Final = 1 << 13


class LogReader:
    def __init__(
        self,
        name: str,
        order: int,
        rule_set: RuleSet,
        origin: Origin,
        *,
        nodes: Collection[str],
        deadline: Deadline,
    ) -> None:
        self._name = name
        self._order = order
        self._rule_set = rule_set
        self._origin = origin
        self._nodes = nodes
        self._deadline = deadline
        self._prefilter = prefilter_of(rule_set)
        self._tracebacks = TracebackCollector()
        self._collector = ClueCollector(rule_set)
        self._liveness = LivenessWatch()
        self._known = KnownLines()
        self._crowded = False
        self._sampled = False
        """The block is so full of alarms that not each of them is looked at."""
        self._number = 1
        self._calm = 0
        self._effort = _MOST_EFFORT
        self._searched, self._alarmed = _SEARCHED_BLOCKS, _ALARMED_BLOCKS
        self._attempt = origin.attempt
        self._last_bytes = b""
        self._body_lines: int | None = None
        """Where the scheduler's epilogue begins."""
        self._in_epilogue = False
        self.readable = False

    @property
    def lines(self) -> int:
        return self._number - 1 + (not self._last_bytes.endswith(b"\n") and bool(self._last_bytes))

    def read(self, chunks: Iterable[bytes]) -> None:
        """What the log ends with is read closely however much came before it.

        Where reading fails, what came before the failure is its end.
        """
        waiting: deque[bytes] = deque()
        closely = _CLOSELY_BLOCKS
        try:
            for raw in blocks(chunks):
                waiting.append(raw)
                self._deadline.check()
                if closely > 0 and len(waiting) > _LAST_BLOCKS:
                    full = self._read_block(waiting.popleft())
                    closely -= _CROWDED_BLOCK if full else 1
                elif len(waiting) > _LAST_BLOCKS_OF_HUGE:
                    self._pass_over(waiting.popleft())
        except TakesLong:
            waiting.clear()
            raise
        finally:
            self._read_end(waiting)

    def _pass_over(self, raw: bytes) -> None:
        """The middle of a huge log is only counted, but for the first alarms in it."""
        if self._is_alarmed(raw):
            self._read_block(raw)
            return
        lines = raw.count(b"\n")
        self._number += lines
        self._count_calm(lines)
        self._liveness.calm(raw, 0, len(raw))
        self._last_bytes = raw[-_TAIL_BYTES:]

    def _is_alarmed(self, raw: bytes) -> bool:
        if not self._searched or not self._alarmed:
            return False
        self._searched -= 1
        found = self._prefilter.search(raw) is not None
        self._alarmed -= found
        return found

    def _read_end(self, waiting: deque[bytes]) -> None:
        self._effort = max(self._effort, _EFFORT_AT_END)
        body, epilogue = split_epilogue(waiting.pop()) if waiting else (b"", b"")
        for raw in (*waiting, body):
            if raw:
                self._read_block(raw)
        if epilogue:
            self._read_epilogue(epilogue)
        self.readable = self.readable or is_text(self._last_bytes)

    def _read_epilogue(self, raw: bytes) -> None:
        """Evidence like other lines, but neither calm nor a sign of life."""
        before = self._tracebacks, self._liveness, self._last_bytes
        self._body_lines, self._in_epilogue = self._number, True
        self._tracebacks, self._liveness = TracebackCollector(), LivenessWatch()
        self._read_block(raw)
        self._tracebacks, self._liveness, last_bytes = before
        if last_bytes:
            self._last_bytes = last_bytes
        else:
            self._body_lines = None

    def _read_block(self, raw: bytes) -> bool:
        """Whether it is full of alarming lines."""
        self.readable = self.readable or is_text(raw[:_TAIL_BYTES])
        self._effort = min(_MOST_EFFORT, self._effort + _EFFORT_PER_BLOCK)
        block = Block(raw, self._number, self._last_bytes[-_LOOK_BACK:])
        full = self._scan(block)
        self._number += block.lines
        self._last_bytes = (self._last_bytes + raw[-_TAIL_BYTES:])[-_TAIL_BYTES:]
        return full

    def _scan(self, block: Block) -> bool:
        """Jump from one alarming line to the next; in a crowded block, from line to line."""
        self._sampled = self._crowded
        at = self._read_traceback(block, 0)
        if self._crowded:
            at = self._scan_by_template(block, at)
        hits = 0
        while at < block.end and (found := self._prefilter.search(block.flat, at)) is not None:
            start = block.line_start(found.start(), at)
            self._skip(block, at, start)
            at = start
            hits += 1
            if hits > _CROWDED or self._effort < 0:
                at = self._scan_by_template(block, at)
            else:
                at = self._read_traceback(block, self._examine(block, at, found.start()))
        self._skip(block, at, block.end)
        return self._sampled or hits > _CROWDED

    def _read_traceback(self, block: Block, at: int) -> int:
        """Look at every line while a traceback is being written."""
        while self._tracebacks.busy and at < block.end and self._effort >= 0:
            at = self._examine(block, at, at)
        return at

    def _count_calm(self, lines: int) -> None:
        if not self._in_epilogue:
            self._calm += lines

    def _skip(self, block: Block, start: int, end: int) -> None:
        self._count_calm(block.count(start, end))
        self._liveness.calm(block.flat, start, end)

    def _scan_by_template(self, block: Block, at: int) -> int:
        """Look up each line by what it has in common with others, as long as there is effort.

        Lines that are known to be calm take no step of their own: healthy logs with an alarming
        word in every line are read at the speed of a disk, too.
        """
        rest = block.flat[at:]
        keys = rest.translate(None, DIGITS).removesuffix(b"\n").split(b"\n")
        calm = self._known.calm
        odd = [place for place, key in enumerate(keys) if key not in calm]
        starts = list(accumulate(map(len, rest.split(b"\n")), initial=at)) if odd else []
        last, unknown = None, 0
        for place in odd:
            start, end, key = starts[place] + place, starts[place + 1] + place, keys[place]
            if start == at and key == last:
                at = end + 1
            elif start >= at and key not in calm:
                self._skip_known(block, at, start)
                if self._is_known(block, key, start, end):
                    at, last = end + 1, key
                elif self._effort >= 0:
                    self._examine_unknown(block, key, start, end)
                    at, last = self._read_traceback(block, end + 1), None
                    unknown += 1
                else:
                    self._effort, self._crowded, self._sampled = _EFFORT_PER_BLOCK, False, True
                    return max(start, block.near_end())
        self._skip_known(block, at, block.end)
        self._crowded = _MOST_UNKNOWN * unknown < len(keys)
        return block.end

    def _skip_known(self, block: Block, start: int, end: int) -> None:
        if start < end:
            self._count_calm(block.count(start, end))
            if self._liveness.watching and self._effort > 0:
                self._effort -= 1
                self._liveness.calm(block.flat, start, end)

    def _is_known(self, block: Block, key: bytes, start: int, end: int) -> bool:
        known = None if self._tracebacks.busy else self._known.verdicts.get(key)
        return known is not None and self._seen_again(block, known, start, end)

    def _examine_unknown(self, block: Block, key: bytes, start: int, end: int) -> None:
        self._effort -= 1
        if self._tracebacks.busy or self._prefilter.search(block.flat[start:end]) is not None:
            self._examine(block, start, start)
        else:
            self._skip(block, start, end + 1)
            self._known.learn(key, Harmless.CALM)

    def _examine(self, block: Block, start: int, centre: int) -> int:
        """Judge one line; where the next one begins."""
        self._deadline.check()
        end = block.line_end(start)
        raw = block.text(start, end, centre)
        key = raw.translate(None, DIGITS)
        busy = self._tracebacks.busy
        if self._is_known(block, key, start, end):
            return end + 1
        self._effort -= _EFFORT_OF_LINE
        if not is_written(raw):
            return end + 1
        line = self._line(raw, block.number(start))
        if not self._of_traceback(block, line, raw, end):
            verdict = self._judge(block, line, raw, start)
            if verdict is Harmless.CALM:
                self._skip(block, start, end + 1)
            if not busy:
                self._known.learn(key, verdict)
        return end + 1

    def _line(self, raw: bytes, number: int) -> LogLine:
        line = read_line(raw, file=self._name, order=self._order, number=number, nodes=self._nodes)
        if line.rank is None and self._origin.rank is not None:
            return replace(line, rank=self._origin.rank)
        return line

    def _of_traceback(self, block: Block, line: LogLine, raw: bytes, end: int) -> bool:
        taken = self._tracebacks.feed(line)
        for chain in self._tracebacks.fresh():
            self._effort -= _EFFORT_OF_NOTE
            position = self._position(block, end)
            survival = self._liveness.survival(line, raw)
            above = self._above(block, end, line.number - chain[0].head.number)
            self._collector.raised(chain, position, survival, self._below(block, end), above)
        return taken

    def _seen_again(self, block: Block, known: Verdict, start: int, end: int) -> bool:
        """A line that is well known only makes its episode longer."""
        if isinstance(known, Episode):
            known.survival = self._liveness.survival(known.line, block.flat[start:end])
            return self._collector.again(known, self._calm)
        if known is Harmless.CALM:
            self._count_calm(1)
            if self._liveness.watching and self._effort > 0:
                self._effort -= 1
                self._liveness.calm(block.flat, start, end)
        return True

    def _judge(self, block: Block, line: LogLine, raw: bytes, start: int) -> Verdict:
        if not line.text or is_stack(line.text):
            return Harmless.ECHO
        found = explain_line(without_encoded(line.text), self._rule_set)
        if found is None:
            verdict: Verdict = Harmless.ECHO if is_clearing_up(line.text) else Harmless.CALM
        else:
            verdict = self._note(block, found, line, raw, start)
        if _RESTART.search(line.text):
            self._attempt += 1
        return verdict

    def _note(
        self, block: Block, found: tuple[Rule, float], line: LogLine, raw: bytes, start: int
    ) -> Episode:
        rule, confidence = found
        survival = self._liveness.survival(line, raw)
        episode = self._collector.known(rule, line, self._attempt)
        if episode is not None and self._collector.again(episode, self._calm):
            episode.survival = survival
            return episode
        if line.bare_number and block.counts_up(start):
            line = replace(line, rank=self._origin.rank)
        self._effort -= _EFFORT_OF_NOTE
        position = self._position(block, start + len(raw))
        below = self._below(block, block.line_end(start))
        return self._collector.note(
            Episode(rule, confidence, line, position, self._calm, survival, below)
        )

    def _below(self, block: Block, end: int) -> Callable[[], tuple[LogLine, ...]]:
        """Cut the lines now and parse them on demand: most episodes never need them."""
        found = tuple(block.below(end))
        return lambda: tuple(self._line(raw, number) for number, raw in found)

    def _above(self, block: Block, end: int, lines: int) -> Callable[[], tuple[LogLine, ...]]:
        found = tuple(block.above(end, lines))
        return lambda: tuple(self._line(raw, number) for number, raw in found)

    def _position(self, block: Block, end: int) -> LogPosition:
        return LogPosition(self._calm, block.stamped(end), self._attempt)

    def clues(self) -> list[Clue]:
        """What was found, when all is read."""
        for cut_off in self._tracebacks.unfinished():
            position = LogPosition(self._calm, None, self._attempt)
            self._collector.raised([cut_off], position, self._liveness.survival(cut_off.head, b""))
        return self._with_what_followed(self._collector.clues(self._calm))

    def _with_what_followed(self, clues: list[Clue]) -> list[Clue]:
        """A run that goes on as before has survived what alarmed."""
        numbers = [clue.line.number for clue in clues if clue.line is not None]
        if not numbers:
            return clues
        end = list(self._end())
        first = min((number for number in numbers if number >= end[0][0]), default=end[-1][0])
        routine = Routine(end, first)
        return [
            replace(
                clue,
                went_on=not clue.rule.fatal
                and routine.goes_on_after(clue.line.number, clue.stream, raised=clue.uncaught),
            )
            if clue.line is not None
            else clue
            for clue in clues
        ]

    def _end(self) -> Iterator[tuple[int, bytes]]:
        last = self._number if self._body_lines is None else self._body_lines
        return pieces(self._last_bytes, last - self._last_bytes.count(b"\n"))

    def tail(self) -> list[LogLine]:
        last: deque[LogLine] = deque(maxlen=_TAIL_LINES)
        for number, raw in self._end():
            if raw.strip():
                last.append(self._line(raw, number))
        return [line for line in last if line.text]
