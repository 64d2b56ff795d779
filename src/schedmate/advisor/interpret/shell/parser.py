"""Shell text to its syntax. Whatever the text, there is a tree: what does not fit is skipped."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from schedmate.advisor.interpret.shell.lexer import Token, lex
from schedmate.advisor.interpret.shell.syntax import (
    Arithmetic,
    Arm,
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

_MAX_DEPTH = 40
_END = Token("newline", "", 0)
_SEPARATORS = frozenset((";", "&", "\n", ";;", ";&", ";;&"))
_FUNCTION_NAME = re.compile(r"[A-Za-z_][\w:.-]*", re.ASCII)
_DESCRIPTOR = re.compile(r"\d+|-")


def parse(text: str) -> Block:
    return _Parser(lex(text)).script()


@dataclass(slots=True)
class _Parser:
    tokens: list[Token]
    at: int = 0
    depth: int = 0

    def script(self) -> Block:
        parts: list[Node] = []
        while self.at < len(self.tokens):
            parts += self._block(frozenset()).parts
            self.at += 1
        return Block(tuple(parts))

    def _peek(self, ahead: int = 0) -> Token:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else _END

    def _ended(self) -> bool:
        return self.at >= len(self.tokens)

    def _is(self, text: str, kind: str = "word") -> bool:
        token = self._peek()
        return token.kind == kind and token.text == text

    def _skip(self, text: str, kind: str = "word") -> bool:
        if self._is(text, kind):
            self.at += 1
            return True
        return False

    def _skip_newlines(self) -> None:
        while not self._ended() and (self._peek().kind == "newline" or self._is(";", "operator")):
            self.at += 1

    def _block(self, ends: frozenset[str]) -> Block:
        """Commands up to one of the words in `ends`, or to what belongs to something around."""
        parts: list[Node] = []
        while not self._ended():
            token = self._peek()
            if token.kind == "newline" or (token.text in (";", "&") and token.kind == "operator"):
                self.at += 1
            elif (token.kind == "operator" and token.text != "(") or (
                token.kind == "word" and token.text in ends
            ):
                break
            else:
                before = self.at
                parts.append(self._chain())
                if self.at == before:
                    break
        return Block(tuple(parts))

    def _chain(self) -> Node:
        first = self._pipeline()
        rest: list[tuple[str, Node]] = []
        while self._peek().kind == "operator" and self._peek().text in ("&&", "||"):
            operator = self._peek().text
            self.at += 1
            while not self._ended() and self._peek().kind == "newline":
                self.at += 1
            rest.append((operator, self._pipeline()))
        return Chain(first, tuple(rest)) if rest else first

    def _pipeline(self) -> Node:
        negated = False
        while self._skip("!"):
            negated = not negated
        parts = [self._command()]
        while self._peek().kind == "operator" and self._peek().text in ("|", "|&"):
            self.at += 1
            while not self._ended() and self._peek().kind == "newline":
                self.at += 1
            parts.append(self._command())
        return parts[0] if len(parts) == 1 and not negated else Pipeline(tuple(parts), negated)

    def _command(self) -> Node:
        if self.depth >= _MAX_DEPTH:
            return self._simple()
        self.depth += 1
        node = self._compound()
        self.depth -= 1
        if node is None:
            return self._simple()
        redirects = tuple(self._redirects())
        return Redirected(node, redirects) if redirects else node

    def _compound(self) -> Node | None:
        token = self._peek()
        if token.kind == "arithmetic":
            self.at += 1
            return Arithmetic(token.text, token.line)
        if token.kind == "operator" and token.text == "(":
            self.at += 1
            body = self._block(frozenset())
            self._skip(")", "operator")
            return Group(body, subshell=True)
        if token.kind != "word":
            return None
        if self._defines_function():
            return self._function()
        make = _COMPOUNDS.get(token.text)
        if make is None:
            return None
        self.at += 1
        return make(self)

    def _defines_function(self) -> bool:
        following = (self._peek(1), self._peek(2))
        return (
            all(token.kind == "operator" for token in following)
            and [token.text for token in following] == ["(", ")"]
            and _FUNCTION_NAME.fullmatch(self._peek().text) is not None
        )

    def _function(self) -> Function:
        name = self._peek().text
        self.at += 1
        if self._skip("(", "operator"):
            self._skip(")", "operator")
        self._skip_newlines()
        return Function(name, self._command())

    def _braces(self) -> Group:
        body = self._block(frozenset(("}",)))
        self._skip("}")
        return Group(body)

    def _if(self) -> If:
        clauses: list[tuple[Block, Block]] = []
        while True:
            condition = self._block(frozenset(("then", "fi")))
            self._skip("then")
            clauses.append((condition, self._block(frozenset(("elif", "else", "fi")))))
            if not self._skip("elif"):
                break
        otherwise = Block(())
        if self._skip("else"):
            otherwise = self._block(frozenset(("fi",)))
        self._skip("fi")
        return If(tuple(clauses), otherwise)

    def _while(self, *, until: bool = False) -> Loop:
        condition = self._block(frozenset(("do", "done")))
        return Loop(condition, self._do(), until)

    def _until(self) -> Loop:
        return self._while(until=True)

    def _do(self) -> Block:
        self._skip_newlines()
        if self._skip("{"):
            return self._braces().body
        self._skip("do")
        body = self._block(frozenset(("done",)))
        self._skip("done")
        return body

    def _for(self) -> For | CountingFor:
        header = self._peek()
        self.at += 1
        if header.kind == "arithmetic":
            return CountingFor(header, self._do())
        more: list[Token] = []
        while self._peek().text.isidentifier() and self._peek().text not in ("in", "do"):
            more.append(self._peek())
            self.at += 1
        self._skip_newlines()
        items: list[Token] | None = None
        if self._skip("in"):
            items = []
            while self._peek().kind == "word" and not self._ended():
                items.append(self._peek())
                self.at += 1
        chosen = None if items is None else tuple(items)
        return For(header, tuple(more), chosen, self._do())

    def _case(self) -> Case:
        subject = self._peek()
        self.at += 1
        self._skip_newlines()
        self._skip("in")
        arms: list[Arm] = []
        while True:
            while self._peek().kind == "newline" and not self._ended():
                self.at += 1
            if self._ended() or self._skip("esac"):
                return Case(subject, tuple(arms))
            before = self.at
            arms.append(self._arm())
            if self.at == before:
                self.at += 1

    def _arm(self) -> Arm:
        self._skip("(", "operator")
        patterns: list[Token] = []
        while self._peek().kind == "word" or self._is("|", "operator"):
            if self._ended():
                break
            if self._peek().kind == "word":
                patterns.append(self._peek())
            self.at += 1
        self._skip(")", "operator")
        body = self._block(frozenset(("esac",)))
        if self._peek().kind == "operator" and self._peek().text in (";;", ";&", ";;&"):
            self.at += 1
        return Arm(tuple(patterns), body)

    def _condition(self) -> Condition:
        words: list[Token] = []
        while not self._ended() and self._peek().kind == "word":
            token = self._peek()
            self.at += 1
            if token.text == "]]":
                break
            words.append(token)
        return Condition(tuple(words))

    def _redirects(self) -> list[Redirect]:
        found: list[Redirect] = []
        while self._peek().kind == "redirect" and not self._ended():
            found.append(self._redirect())
        return found

    def _redirect(self) -> Redirect:
        token = self._peek()
        self.at += 1
        if token.here is not None:
            return Redirect(token.text, None, token.here)
        target = self._peek()
        if target.kind != "word":
            return Redirect(token.text, None)
        self.at += 1
        return Redirect(token.text, target)

    def _simple(self) -> Simple:
        words: list[Token] = []
        redirects: list[Redirect] = []
        while not self._ended():
            token = self._peek()
            if token.kind == "redirect":
                redirects.append(self._redirect())
            elif token.kind == "word":
                words.append(token)
                self.at += 1
            else:
                break
        return Simple(tuple(words), tuple(redirects))


_COMPOUNDS: dict[str, Callable[[_Parser], Node]] = {
    "if": _Parser._if,  # noqa: SLF001 - a table of the class's own methods
    "while": _Parser._while,  # noqa: SLF001 - same
    "until": _Parser._until,  # noqa: SLF001 - same
    "for": _Parser._for,  # noqa: SLF001 - same
    "select": _Parser._for,  # noqa: SLF001 - same
    "case": _Parser._case,  # noqa: SLF001 - same
    "function": _Parser._function,  # noqa: SLF001 - same
    "{": _Parser._braces,  # noqa: SLF001 - same
    "[[": _Parser._condition,  # noqa: SLF001 - same
}
