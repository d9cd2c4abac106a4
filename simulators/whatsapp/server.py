"""Runs a simulator on a real port: as the process, or inside a test's event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from socket import socket

import uvicorn

from simulators.whatsapp.app import create_app
from simulators.whatsapp.config import SimulatorConfig
from simulators.whatsapp.engine import Simulator


class SimulatorServer(uvicorn.Server):
    """A quiet uvicorn that ends event streams first, since they would hold up its exit."""

    def __init__(self, config: SimulatorConfig, *, host: str, port: int) -> None:
        app = create_app(config)
        self.simulator: Simulator = app.state.simulator
        super().__init__(
            uvicorn.Config(
                app,
                host=host,
                port=port,
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=3,
                # an admin client's idle connection must not die in the moment of its use
                timeout_keep_alive=120,
                ws="none",
            )
        )

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End the streams, then stop as uvicorn does."""
        self.simulator.end_streams()
        await super().shutdown(sockets)

    @property
    def bound_port(self) -> int:
        """The port really bound, also after asking for port 0."""
        port: int = self.servers[0].sockets[0].getsockname()[1]
        return port


@asynccontextmanager
async def running(
    config: SimulatorConfig, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Serve in the current event loop; yield the base URL."""
    server = SimulatorServer(config, host=host, port=port)
    task = asyncio.create_task(server._serve())
    try:
        while not server.started:
            if task.done():
                await task
                raise RuntimeError(f"the simulator did not start on port {port}")
            await asyncio.sleep(0.01)
        yield f"http://{host}:{server.bound_port}"
    finally:
        server.should_exit = True
        await task
