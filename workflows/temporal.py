"""The Temporal client, connected one way by worker, API and CLI: standard settings, one
converter."""

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig
from temporalio.runtime import Runtime

DEFAULT_ADDRESS = "localhost:7233"


async def connect(*, lazy: bool = False, runtime: Runtime | None = None) -> Client:
    """The client by `TEMPORAL_*` or temporal.toml. Lazy: the first call connects, so that the API
    takes webhooks while Temporal is away. Raises RuntimeError if it cannot connect."""
    config = ClientConfig.load_client_connect_config()
    config.setdefault("target_host", DEFAULT_ADDRESS)
    return await Client.connect(
        **config, data_converter=pydantic_data_converter, lazy=lazy, runtime=runtime
    )
