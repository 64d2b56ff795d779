"""The flows of the pages in a real browser, on jobs that really ran on a real Slurm."""

from __future__ import annotations

import re

import pytest

from schedmate.config import LlmSettings, Settings
from web.browser.conftest import chromium, open_page, page, playing
from web.browser.test_flows import (
    expect,
    test_a_curve_shows_its_values_and_a_part_of_it_on_demand,
    test_a_job_is_found_and_its_search_can_be_shared,
    test_a_token_signs_in_and_another_is_refused,
    test_hostile_names_and_lines_are_text,
    test_it_is_readable_without_a_script,
    test_people_correct_decide_and_undo,
    test_prediction_reality_and_curves,
    test_the_log_is_searched_folded_and_walked_by_errors,
    test_the_queue_is_live,
    test_the_site_by_keyboard,
    test_why_it_failed_and_the_line_that_shows_it,
)

pytestmark = [pytest.mark.slurm, pytest.mark.browser]

# the same flows with another site: pytest finds them, and their fixtures, by their names here
__all__ = [
    "chromium",
    "open_page",
    "page",
    "test_a_curve_shows_its_values_and_a_part_of_it_on_demand",
    "test_a_job_is_found_and_its_search_can_be_shared",
    "test_a_token_signs_in_and_another_is_refused",
    "test_hostile_names_and_lines_are_text",
    "test_it_is_readable_without_a_script",
    "test_people_correct_decide_and_undo",
    "test_prediction_reality_and_curves",
    "test_the_log_is_searched_folded_and_walked_by_errors",
    "test_the_queue_is_live",
    "test_the_site_by_keyboard",
    "test_why_it_failed_and_the_line_that_shows_it",
]


@pytest.fixture(scope="module")
def site(slurm_cluster, tmp_path_factory):
    root = tmp_path_factory.mktemp("site")
    settings = Settings(
        scheduler="slurm", mode="act", state_dir=root / "state", llm=LlmSettings(enabled=False)
    )
    with playing(settings, root, nodes=len(slurm_cluster.nodes)) as site:
        yield site


def test_slurms_nodes_and_partitions_are_shown(site, open_page, slurm_cluster):
    page = open_page("/nodes")
    for node in slurm_cluster.nodes:
        expect(page.get_by_role("rowheader", name=node)).to_be_visible()
    page.goto("/cluster?by=partition")
    expect(page.get_by_role("img", name=re.compile("^GPUs in use"))).to_be_visible()
    expect(page.get_by_label("By partition").get_by_role("rowheader")).to_have_count(1)
    page.goto("/failures")
    expect(page.get_by_role("rowheader", name="gpu_oom")).to_be_visible()
