"""Everything together: starts the parts in the order in which they need each other, watches them,
and stops them the other way round."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import settings as settings_module
from cli.stack import data_folder, database, reach
from cli.stack.errors import PartError
from cli.stack.parties import DATABASE, Parties
from cli.stack.ports import Ports
from cli.stack.postgres import EmbeddedPostgres
from cli.stack.processes import Child
from cli.stack.temporal import TemporalDevServer
from cli.stack.wiring import Wiring

WATCH_EVERY_S = 0.2


class EmbeddedStack:
    """A running Aval on one machine. Use it as a context manager."""

    def __init__(
        self,
        data: Path,
        environment: Mapping[str, str],
        *,
        ports: Ports,
        say: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """`environment` is the whole one that worker and API get, besides what the stack adds.
        `say` is told what starts and stops, a line each. Raises StackError for a contradiction."""
        self.data = data.resolve()
        self.parties = Parties.from_environment(environment)
        self._environment = environment
        self._ports = ports
        self._say = say
        self._parts: list[Child] = []
        self._held = ExitStack()
        self._wiring: Wiring | None = None
        self.postgres = EmbeddedPostgres(
            reach.data_folder(self.data), log=self.data / "logs" / "postgresql.log"
        )
        self.temporal = TemporalDevServer(
            log=self.data / "logs" / "temporal.log",
            database=self.data / "temporal.sqlite",
            port=ports.temporal,
            ui_port=ports.temporal_ui,
        )

    @property
    def wiring(self) -> Wiring:
        """Addresses and secrets of the parts. Raises LookupError before the start."""
        if self._wiring is None:
            raise LookupError("the stack is not started")
        return self._wiring

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self) -> None:
        data_folder.make(self.data)
        self._held.enter_context(data_folder.locked(self.data))
        self._ports.check_free(self._parts_with_ports())
        wiring = self._wiring = Wiring(
            data=self.data,
            environment=self._environment,
            parties=self.parties,
            ports=self._ports,
            secrets=data_folder.read_secrets(self.data),
            dsn=self.postgres.dsn(database.NAME)
            if self.parties.database
            else self._environment[DATABASE],
            temporal_address=self.temporal.address,
        )
        settings = settings_module.load(wiring.product())
        near = ([self.temporal.child] if self.parties.temporal else []) + wiring.simulators()
        self._spawn(near)
        if self.parties.database:
            self._say("starting PostgreSQL")
            self.postgres.start()
            self._parts.insert(0, self.postgres.child)
        asyncio.run(database.prepare(wiring, settings))
        self._wait(near)
        ours = wiring.workers()
        self._spawn(ours)
        self._wait(ours)

    def _parts_with_ports(self) -> tuple[str, ...]:
        used = {
            "temporal": self.parties.temporal,
            "temporal_ui": self.parties.temporal,
            "whatsapp": self.parties.whatsapp,
            "claude": self.parties.claude,
            "payments": self.parties.payments,
        }
        return ("api", *(part for part, needed in used.items() if needed))

    def _spawn(self, children: list[Child]) -> None:
        for child in children:
            self._say(f"starting {child.name}")
            self._parts.append(child)
            child.spawn()

    def _wait(self, children: list[Child]) -> None:
        for child in children:
            child.wait_ready()

    def watch(self) -> NoReturn:
        """Look after the parts for ever. Raises PartError as soon as one has ended by itself."""
        while True:
            self.check_alive()
            time.sleep(WATCH_EVERY_S)

    def check_alive(self) -> None:
        """Raise PartError if a part has ended by itself."""
        for child in self._parts:
            if child.exit_code is not None:
                raise PartError(child.obituary())

    def kill_and_restart(self, name: str) -> None:
        """End a part by SIGKILL, as a crash would, and start it again; returns once it is ready.
        Raises LookupError for a part that does not run, PartError if it does not come back."""
        for child in self._parts:
            if child.name == name:
                child.kill()
                child.spawn()
                child.wait_ready()
                return
        raise LookupError(f"no part {name!r} runs")

    def stop(self) -> None:
        """Stop every part that runs, the last started first."""
        while self._parts:
            child = self._parts.pop()
            if child.started and child.exit_code is None:
                child.stop()
                with contextlib.suppress(
                    OSError
                ):  # the terminal may be gone; the parts must go too
                    self._say(f"stopped {child.name}")
        self.postgres.stop()
        self._held.close()
