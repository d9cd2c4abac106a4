"""`python -m api`: serves the public port until SIGTERM or SIGINT."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

import settings as settings_module
from api.app import serving
from domain.errors import OperatorError
from domain.logs import configure_logging
from domain.process import leave
from settings import Settings


class Server(uvicorn.Server):
    """uvicorn's, but a signal only asks it to end: its own way raises the signal again once it has
    stopped, which would kill the process before its pool and client are closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ask for the end on SIGTERM and SIGINT."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


async def serve(settings: Settings) -> None:
    """Serve until signalled."""
    async with serving(settings) as app:
        config = uvicorn.Config(
            app,
            host=settings.api_host,
            port=settings.api_port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=10,
        )
        await Server(config).serve()


def main() -> int:
    """The process's exit code: 0 after a graceful stop, 2 if it may not start."""
    try:
        loaded = settings_module.load()
        configure_logging(loaded.log_level)
        asyncio.run(serve(loaded))
    except OperatorError as error:
        sys.stderr.write(f"api: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"api: cannot reach PostgreSQL, or the port is taken: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    leave(main())
