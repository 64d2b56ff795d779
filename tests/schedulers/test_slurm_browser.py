"""The flows of the pages in a real browser, on jobs that really ran on a real Slurm."""

from __future__ import annotations

import re

import pytest

from schedmate.config import LlmSettings, Settings
from web.browser import test_flows as flows
from web.browser.conftest import chromium, open_page, page, playing

pytestmark = [pytest.mark.slurm, pytest.mark.browser]
__all__ = ["chromium", "open_page", "page"]


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
        flows.expect(page.get_by_role("rowheader", name=node)).to_be_visible()
    page.goto("/cluster?by=partition")
    flows.expect(page.get_by_role("img", name=re.compile("^GPUs in use"))).to_be_visible()
    flows.expect(page.get_by_label("By partition").get_by_role("rowheader")).to_have_count(1)
    page.goto("/failures")
    flows.expect(page.get_by_role("rowheader", name="gpu_oom")).to_be_visible()


# the same flows with another site; what people correct comes last
test_search = flows.test_a_job_is_found_and_its_search_can_be_shared
test_queue = flows.test_the_queue_is_live
test_cause = flows.test_why_it_failed_and_the_line_that_shows_it
test_log = flows.test_the_log_is_searched_folded_and_walked_by_errors
test_story = flows.test_prediction_reality_and_curves
test_pages = flows.test_the_site_by_keyboard
test_sign_in = flows.test_a_token_signs_in_and_another_is_refused
test_without_script = flows.test_it_is_readable_without_a_script
test_people_act = flows.test_people_correct_decide_and_undo
