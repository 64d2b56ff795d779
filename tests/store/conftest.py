import pytest

pytest.register_assert_rewrite("schedmate.testing.store_contract")
pytest.register_assert_rewrite("schedmate.testing.lessons_contract")
