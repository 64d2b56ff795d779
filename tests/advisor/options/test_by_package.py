"""Every modelled name is found by the package that it is of."""

from __future__ import annotations

import pytest

from schedmate.advisor.options import MODELS, WRAPPERS


@pytest.mark.parametrize("table", [MODELS, WRAPPERS], ids=["models", "wrappers"])
def test_each_name_is_of_a_package_that_is_listed(table):
    assert [name for name in table if name not in table] == []
