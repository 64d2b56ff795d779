"""Whatever is sent to the API: the answer is as its OpenAPI document has it, and never a 5xx."""

from __future__ import annotations

from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

pytestmark = [pytest.mark.processes, pytest.mark.slow]
EXAMPLES = 8
ENDLESS = "/api/v1/events"
PARTS = 6
"""Of the document, each in a test of its own: they take a while."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_fits_the_document(queue, mode, part):
    queue.site.looked(4e9)
    url = f"http://127.0.0.1:{queue.port}"
    schema = schemathesis.openapi.from_url(f"{url}/api/v1/openapi.json")
    asked = set()
    operations = [one.ok() for one in schema.exclude(path=ENDLESS).get_all_operations()]
    assert {"POST /api/v1/advise", "GET /api/v1/jobs"} <= {one.label for one in operations}
    for operation in operations[part::PARTS]:
        with suppress(Unsatisfiable):  # nothing in it that could be wrong
            check_all(operation.as_strategy(generation_mode=mode))
            asked.add(operation.label)
    assert asked


def check_all(cases):
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def check(case):
        case.call_and_validate()

    check()
