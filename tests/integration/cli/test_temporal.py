"""The dev server: with our namespace and search attributes, and on a file that it goes on with."""

from pathlib import Path

import pytest
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client

from cli.stack.temporal import SEARCH_ATTRIBUTES, TemporalDevServer


async def test_the_namespace_and_its_search_attributes_are_there_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ready means that a worker may start; another server's settings do not disturb."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("TEMPORAL_API_KEY", "somebody-else-s")
    with TemporalDevServer(log=tmp_path / "log", database=tmp_path / "temporal.sqlite") as server:
        client = await Client.connect(server.address)
        found = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace="default")
        )
        assert set(SEARCH_ATTRIBUTES) <= set(found.custom_attributes)
    assert (tmp_path / "temporal.sqlite").exists()
