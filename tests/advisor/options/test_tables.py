"""Tables of settings that share parts, or hold themselves."""

from __future__ import annotations

from advisor.options.replay import plain, value
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.options.tables import copied, leaves, look_up, merge, nested, put


def laughing(levels: int = 30, width: int = 10) -> Table:
    table = Table({"end": value(1)})
    for _ in range(levels):
        table = Table({f"x{n}": Value(table) for n in range(width)})
    return table


def test_shared_tables_do_not_multiply() -> None:
    table = laughing()
    assert len(list(leaves(table))) <= 3000
    copy = copied(table)
    merge(copy, laughing())
    assert copy is not table


def test_a_table_that_holds_itself() -> None:
    table = Table({"lr": value(0.1)})
    table.parts["self"] = Value(table)
    assert [name for name, _ in leaves(table)] == ["lr"]
    copy = copied(table, "other")
    assert copy.parts["self"].data is copy
    merge(copy, table)
    merge(table, table)
    assert plain(table.parts["lr"]) == 0.1


def test_a_copy_is_one_s_own() -> None:
    first = nested({"optim.lr": value(1), "n": value(2)})
    second = copied(first)
    put(second, "optim.lr", value(3))
    assert plain(look_up(first, "optim.lr")) == 1
    assert plain(look_up(second, "optim.lr")) == 3


def test_merging_keeps_what_is_not_overridden() -> None:
    base = nested({"optim.lr": value(1), "optim.name": value("sgd")})
    merge(base, nested({"optim.lr": value(2), "n.m": value(3)}))
    assert plain(Value(base)) == {"optim": {"lr": 2, "name": "sgd"}, "n": {"m": 3}}
