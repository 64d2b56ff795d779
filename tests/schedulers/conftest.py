import pytest

pytest.register_assert_rewrite("schedmate.testing.scheduler_contract")
