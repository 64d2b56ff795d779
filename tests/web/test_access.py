"""Who is behind a connection."""

from __future__ import annotations

import os
import socket

import pytest

from schedmate.web.access import STRANGER, LocalAccounts, owner_of_connection

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_the_kernel_knows_whose_connection_it_is(family):
    host = "127.0.0.1" if family is socket.AF_INET else "::1"
    with socket.socket(family) as server:
        try:
            server.bind((host, 0))
        except OSError:
            pytest.skip(f"no {host} here")
        server.listen()
        with socket.create_connection(server.getsockname()[:2]) as client:
            there = server.accept()[0]
            with there:
                ends = client.getsockname()[:2], server.getsockname()[:2]
                assert owner_of_connection(*ends) == os.getuid()
                assert LocalAccounts().viewer(*ends).operator


def test_who_has_hung_up_is_not_taken_for_root():
    """The kernel lists an end that no process holds as one of root's."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        with server.accept()[0]:
            ends = client.getsockname(), server.getsockname()
            client.close()
            assert owner_of_connection(*ends) is None
            assert LocalAccounts().viewer(*ends) is STRANGER


def test_a_connection_that_is_not_there_is_nobodys():
    assert owner_of_connection(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
    assert LocalAccounts().viewer(("127.0.0.1", 1), ("127.0.0.1", 2)) is STRANGER


def test_who_comes_from_elsewhere_is_a_stranger():
    assert LocalAccounts().viewer(("192.0.2.7", 1234), ("192.0.2.1", 80)) is STRANGER
    assert LocalAccounts().viewer(None, None) is STRANGER
