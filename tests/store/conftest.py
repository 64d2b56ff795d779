from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedmate.testing.postgres import PostgresServer, private_postgres, programs

pytest.register_assert_rewrite("schedmate.testing.store_contract")
pytest.register_assert_rewrite("schedmate.testing.identity_contract")
pytest.register_assert_rewrite("schedmate.testing.lessons_contract")

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if programs() is None:
        pytest.skip("needs PostgreSQL: scripts/install-test-packages")
    with private_postgres() as server:
        yield server
