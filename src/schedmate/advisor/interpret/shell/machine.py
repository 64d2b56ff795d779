"""Follows a script from top to bottom without running any of it.

Where a branch cannot be decided both are interpreted, and what they do differently is unknown
afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from schedmate.advisor.interpret.shell.commands import merged
from schedmate.advisor.interpret.shell.conditions import decide, negated
from schedmate.advisor.interpret.shell.parameters import matches
from schedmate.advisor.interpret.shell.scope import Flow, Shell, Surroundings
from schedmate.advisor.interpret.shell.spans import known, text_of, unknown
from schedmate.advisor.interpret.shell.state import Defined
from schedmate.advisor.interpret.shell.syntax import (
    Arithmetic,
    Block,
    Case,
    Chain,
    Condition,
    CountingFor,
    For,
    Function,
    Group,
    If,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Redirected,
    Simple,
)
from schedmate.advisor.interpret.shell.words import Span, Spans
from schedmate.advisor.sources.files import SourceFile

_MAX_STEPS = 12_000
_MAX_COMMANDS = 5000
_MAX_ROUNDS = 100
_MAX_DEPTH = 60
_GLOBS = frozenset("*?[")
_NOTHING = Block(())


class Doer(Protocol):
    """Does what simple commands say."""

    def do(self, machine: Machine, node: Simple) -> Flow: ...

    def empty(self, machine: Machine, redirects: Sequence[Redirect]) -> None:
        """Files that a group of commands is about to write anew."""


class Machine(Shell):
    """Control flow; what a simple command does is its doer's business."""

    def __init__(
        self,
        source: SourceFile,
        surroundings: Surroundings,
        doer: Doer,
        *,
        all_ways: bool = False,
    ) -> None:
        """`all_ways`: every branch is interpreted as if nothing decided it."""
        super().__init__(source, surroundings)
        self._doer = doer
        self._all_ways = all_ways
        self._presumes = False
        self._steps = _MAX_STEPS
        self._depth = 0
        self._interpreted: dict[type[Node], Callable[[Any], Flow]] = {
            Block: self._block,
            Chain: self._chain,
            Pipeline: self._pipeline,
            If: self._if,
            Loop: self._loop,
            For: self._for,
            CountingFor: self._counting,
            Case: self._case,
            Group: self._group,
            Function: self._function,
            Redirected: self._redirected,
            Condition: self._condition,
            Arithmetic: self._arithmetic,
        }

    def run(self, node: Node) -> Flow:
        self._steps -= 1
        if self._steps < 0 or len(self.commands) >= _MAX_COMMANDS or self._depth > _MAX_DEPTH:
            return "exit" if self._steps < 0 else "next"
        self._depth += 1
        try:
            return self._run(node)
        finally:
            self._depth -= 1

    def _run(self, node: Node) -> Flow:
        if isinstance(node, Simple):
            if self._presumes and node.words:
                lines = self.book.evidence(node.words[0].line + self.offset)
                self.presumed.update((line.file, line.line) for line in lines)
            return self._doer.do(self, node)
        return self._interpreted[type(node)](node)

    def _function(self, node: Function) -> Flow:
        self.state.functions[node.name] = Defined(node.body, self.book, self.offset)
        return "next"

    def _condition(self, node: Condition) -> Flow:
        operands = [self.spans(token) for token in node.words]
        return self._decided(decide(operands, self, patterns=True))

    def _arithmetic(self, node: Arithmetic) -> Flow:
        result = self.number(node.text, (self.book, node.line + self.offset))
        return self._decided(None if result is None else text_of(result) != "0")

    def _decided(self, truth: bool | None) -> Flow:  # noqa: FBT001 - what was decided
        self.status, self.assumed = None if self._all_ways else truth, False
        return "next"

    def _block(self, node: Block) -> Flow:
        for part in node.parts:
            flow = self.run(part)
            if flow != "next":
                return flow
        return "next"

    def _chain(self, node: Chain) -> Flow:
        flow = self.run(node.first)
        for operator, part in node.rest:
            if flow != "next":
                return flow
            truth = None if self._all_ways else self.status
            if (operator == "&&" and (truth or self.assumed)) or (
                operator == "||" and truth is False and not self.assumed
            ):
                flow = self.run(part)
            elif truth is None or self.assumed:
                was_program = self.assumed
                flow = self._either((part, _NOTHING))
                self.status, self.assumed = None, was_program
        return flow

    def _pipeline(self, node: Pipeline) -> Flow:
        """Each part in a shell of its own; one reads what the one before printed."""
        if len(node.parts) == 1:
            flow = self.run(node.parts[0])
        else:
            flow = "next"
            before, capturing, stdin = self.state, self.printing, self.stdin
            for index, part in enumerate(node.parts):
                last = index == len(node.parts) - 1
                if self._steps < 0:
                    break
                self.state, self.piped = before.copy(), index > 0
                self.printing = capturing if last else []
                self.run(part)
                if not last:
                    printed = tuple(span for each in self.printing or () for span in each)
                    self.stdin = printed or None
            self.state, self.piped, self.stdin = before, False, stdin
            self.printing = capturing
        if node.negated:
            self._decided(None if self.assumed else negated(self.status))
        return flow

    def _group(self, node: Group) -> Flow:
        if not node.subshell:
            return self.run(node.body)
        before = self.state
        self.state = before.copy()
        self.run(node.body)
        self.state = before
        return "next"

    def _redirected(self, node: Redirected) -> Flow:
        before = self.outputs
        self.outputs = (*before, *node.redirects)
        self._doer.empty(self, node.redirects)
        flow = self.run(node.body)
        self.outputs = before
        return flow

    def _either(self, ways: Sequence[Node]) -> Flow:
        """Follow every way; those that end the script are not the ones the job is about."""
        before, ends = self.state, []
        self.undecided += 1
        for way in ways:
            self.state = before.copy()
            if self.run(way) != "exit":
                ends.append(self.state)
        self.undecided -= 1
        if not ends:
            self.state = before
            return "exit"
        self.state = ends[0]
        for other in ends[1:]:
            self.state.merge(other, (self.book, 1))
        return "next"

    def _if(self, node: If) -> Flow:
        unset = False
        for index, (condition, body) in enumerate(node.clauses):
            self.asked_unset = False
            flow = self.run(condition)
            unset = unset or self.asked_unset
            if flow == "exit":
                return flow
            truth = None if self.assumed or self._all_ways else self.status
            if truth:
                return self._taken(body, presumed=unset)
            if truth is None:
                rest = node.clauses[index + 1 :]
                return self._either((body, If(rest, node.otherwise) if rest else node.otherwise))
        return self._taken(node.otherwise, presumed=unset)

    def _taken(self, body: Node, *, presumed: bool) -> Flow:
        """Where a variable decided that is set nowhere, all that runs is but presumed to."""
        before = self._presumes
        self._presumes = before or presumed
        flow = self.run(body)
        self._presumes = before
        return flow

    def _loop(self, node: Loop) -> Flow:
        first = len(self.commands)
        flow: Flow = "next"
        for _ in range(_MAX_ROUNDS):
            before = dict(self.state.values), self.state.arguments
            self.run(node.condition)
            truth = None if self.assumed else self.status
            truth = negated(truth) if node.until else truth
            if truth is False:
                break
            if truth is None:
                flow = self._either((node.body, _NOTHING))
                break
            flow = self.run(node.body)
            unchanged = (self.state.values, self.state.arguments) == before
            if flow in ("break", "exit", "return") or unchanged:
                break
        return self._after_loop(first, flow)

    def _after_loop(self, first: int, flow: Flow) -> Flow:
        self.commands[first:] = merged(self.commands[first:])
        return flow if flow in ("exit", "return") else "next"

    def _for(self, node: For) -> Flow:
        name, at = node.name.text, self.place(node.name)
        if node.items is None:
            arguments = self.state.arguments
            items = None if arguments is None else [list(item) for item in arguments]
        else:
            items = self.words(node.items)
        if node.more or items is None or any(_unclear(item) for item in items):
            for token in (node.name, *node.more):
                self.assign(token.text, unknown(f"${token.text}", at))
            return self._after_loop(len(self.commands), self._either((node.body, _NOTHING)))
        return self._rounds(name, [tuple(item) for item in items], node.body)

    def _rounds(self, name: str, items: Sequence[Spans], body: Block) -> Flow:
        first = len(self.commands)
        flow: Flow = "next"
        for item in items[:_MAX_ROUNDS]:
            self.assign(name, item)
            flow = self.run(body)
            if flow in ("break", "exit", "return"):
                break
        return self._after_loop(first, flow)

    def _counting(self, node: CountingFor) -> Flow:
        parts = [*node.header.text.split(";"), "", ""]
        at, first = self.place(node.header), len(self.commands)
        flow: Flow = "next"
        self.number(parts[0], at)
        for _ in range(_MAX_ROUNDS):
            truth = self.number(parts[1], at) if parts[1].strip() else None
            if truth is None:
                flow = self._either((node.body, _NOTHING))
                break
            if text_of(truth) == "0":
                break
            flow = self.run(node.body)
            if flow in ("break", "exit", "return"):
                break
            self.number(parts[2], at)
        return self._after_loop(first, flow)

    def _case(self, node: Case) -> Flow:
        subject = self.spans(node.subject)
        arms = [(arm, [self.spans(pattern) for pattern in arm.patterns]) for arm in node.arms]
        decided = known(subject) and all(known(each) for _, row in arms for each in row)
        if self._all_ways or not decided:
            bodies = [arm.body for arm in node.arms]
            catches_all = bool(arms) and any(text_of(each) == "*" for each in arms[-1][1])
            return self._either(bodies if catches_all else [*bodies, _NOTHING])
        text = text_of(subject)
        for arm, patterns in arms:
            if any(matches(text, text_of(pattern)) for pattern in patterns):
                return self.run(arm.body)
        return "next"


def _unclear(item: Sequence[Span]) -> bool:
    """An item that stands for an unknown number of items."""
    return not known(item) or bool(_GLOBS & set(text_of(item)))
