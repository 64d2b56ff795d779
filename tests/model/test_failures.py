"""The public taxonomy, line by line: its ids are part of the JSON and stay."""

from __future__ import annotations

import pytest

from schedmate.model import REASONS, Reason

TAXONOMY = """
    gpu_ecc infrastructure elsewhere
    gpu_lost infrastructure elsewhere
    gpu_hardware infrastructure elsewhere
    nvlink infrastructure elsewhere
    driver_mismatch infrastructure elsewhere
    nccl_timeout infrastructure elsewhere
    nccl_remote infrastructure elsewhere
    network infrastructure elsewhere
    node_failure infrastructure elsewhere
    storage_io infrastructure wait
    service_unreachable infrastructure wait
    preempted scheduler resume
    time_limit scheduler resume
    cancelled scheduler no
    host_oom scheduler no
    gpu_oom framework no
    cuda_illegal_access framework same
    cuda_assert framework no
    cuda_unsupported framework no
    cuda_error framework same
    shm_exhausted framework no
    fd_limit framework no
    dataloader_killed framework same
    port_conflict framework same
    rendezvous framework same
    hang framework elsewhere
    disk_full framework wait
    disk_quota framework no
    checkpoint_corrupt framework same
    checkpoint_mismatch framework no
    loss_nan framework no
    abi_mismatch framework no
    compile_error framework no
    segfault framework same
    import_error user no
    syntax_error user no
    name_error user no
    attribute_error user no
    type_error user no
    value_error user no
    key_error user no
    index_error user no
    zero_division user no
    assertion_error user no
    shape_mismatch user no
    device_mismatch user no
    dtype_mismatch user no
    autograd_error user no
    file_not_found user no
    permission_denied user no
    argument_error user no
    data_error user no
    auth_error user no
    command_not_found user no
    python_exception user no
    unknown none no
    not_failed none no
"""
LATER = """
    killed infrastructure same
"""
"""Added since the taxonomy was published."""


def rows(table: str) -> list[tuple[str, ...]]:
    return [tuple(line.split()) for line in table.split("\n") if line.strip()]


@pytest.mark.parametrize(("reason", "category", "retry"), rows(TAXONOMY + LATER))
def test_a_reason_keeps_its_category_and_its_default_decision(reason, category, retry):
    assert REASONS[reason] == Reason(reason, category, retry)


def test_no_reason_is_there_that_nobody_agreed_on():
    assert set(REASONS) == {reason for reason, _, _ in rows(TAXONOMY + LATER)}
