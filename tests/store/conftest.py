import pytest

pytest.register_assert_rewrite("schedmate.testing.store_contract")
