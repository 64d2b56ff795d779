"""The parts that a shell script consists of."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.advisor.interpret.shell.lexer import HereDocument, Token


@dataclass(frozen=True, slots=True)
class Redirect:
    """`target` is the file, the descriptor or the here-string."""

    operator: str
    target: Token | None
    here: HereDocument | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Simple:
    """Assignments and words in the order they stand."""

    words: tuple[Token, ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """`[[ … ]]`"""

    words: tuple[Token, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic:
    """`(( … ))`"""

    text: str
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    parts: tuple[Node, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """`a && b || c`: each later part with the operator before it."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """`{ … }`, or `( … )` which leaves no trace in the shell around it."""

    body: Block
    subshell: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class If:
    clauses: tuple[tuple[Block, Block], ...]
    otherwise: Block


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    condition: Block
    body: Block
    until: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class For:
    """`items` None: over the arguments; `more` are further variables, as zsh allows."""

    name: Token
    more: tuple[Token, ...]
    items: tuple[Token, ...] | None
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class CountingFor:
    """`for ((start; condition; step))`"""

    header: Token
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    patterns: tuple[Token, ...]
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    subject: Token
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    name: str
    body: Node


@dataclass(frozen=True, slots=True, eq=False)
class Redirected:
    """A compound command whose input or output goes elsewhere."""

    body: Node
    redirects: tuple[Redirect, ...]


Node = (
    Simple
    | Condition
    | Arithmetic
    | Pipeline
    | Chain
    | Block
    | Group
    | If
    | Loop
    | For
    | CountingFor
    | Case
    | Function
    | Redirected
)
