"""Steers a running simulator from a test, a demo or a script."""

from types import TracebackType
from typing import Any, Self

import httpx

from simulators.payments.faults import Fault, FaultKind


class PaymentsSimulatorClient:
    """The admin pages as methods. Raises httpx.HTTPStatusError if the simulator refuses."""

    def __init__(self, base_url: str, *, admin_secret: str) -> None:
        """Take where the simulator listens and its admin secret."""
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"X-Sim-Secret": admin_secret},
            timeout=10.0,
            trust_env=False,
            # A test may kill and restart the simulator between two calls.
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the client."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close the client."""
        await self._http.aclose()

    async def add_fault(
        self,
        kind: FaultKind | str,
        *,
        times: int = 1,
        method: str | None = None,
        path_prefix: str | None = None,
        key: str | None = None,
        seconds: float = 0.0,
        status: int = 0,
        acted: bool | None = None,
    ) -> None:
        """Order a fault for the next `times` matching requests."""
        fault = Fault(
            kind=FaultKind(kind),
            times=times,
            method=method,
            path_prefix=path_prefix,
            key=key,
            seconds=seconds,
            status=status,
            acted=acted,
        )
        await self._call("POST", "/admin/faults", fault.model_dump(mode="json"))

    async def faults(self) -> list[dict[str, Any]]:
        """Return the faults not yet used up."""
        found: list[dict[str, Any]] = (await self._call("GET", "/admin/faults"))["faults"]
        return found

    async def clear_faults(self) -> None:
        """Drop all open faults."""
        await self._call("DELETE", "/admin/faults")

    async def journal(self) -> list[dict[str, Any]]:
        """Return all requests to the provider, oldest first."""
        found: list[dict[str, Any]] = (await self._call("GET", "/admin/journal"))["requests"]
        return found

    async def effects(self) -> list[dict[str, Any]]:
        """Return all effects, oldest first."""
        found: list[dict[str, Any]] = (await self._call("GET", "/admin/effects"))["effects"]
        return found

    async def counters(self) -> dict[str, Any]:
        """Return effects_total, effects_by_key, duplicates, business_duplicates, in_flight."""
        return await self._call("GET", "/admin/counters")

    async def reset(self) -> None:
        """Forget objects, effects, faults, journal and the moved clock."""
        await self._call("POST", "/admin/reset")

    async def pay(self, charge_id: str) -> dict[str, Any]:
        """Let the customer pay a charge; return the charge."""
        return await self._call("POST", f"/admin/pay/{charge_id}")

    async def advance_clock(self, seconds: float) -> None:
        """Move the provider's clock on (key retention, expiry, lags)."""
        await self._call("POST", "/admin/clock", {"advance_seconds": seconds})

    async def _call(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        response = await self._http.request(method, path, json=body)
        response.raise_for_status()
        found: dict[str, Any] = response.json()
        return found
