"""The simulator's back door as Python calls, for tests and the demo."""

from types import TracebackType
from typing import Any

import httpx

TIMEOUT_SECONDS = 5.0


class ClaudeSimulatorClient:
    """Talks to `/admin/*` of a running simulator; raises `httpx.HTTPStatusError` on refusal."""

    def __init__(self, base_url: str, *, admin_secret: str) -> None:
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"X-Sim-Secret": admin_secret},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
        )

    async def __aenter__(self) -> "ClaudeSimulatorClient":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def fault(self, kind: str, **options: Any) -> None:
        """Queue one fault, for example `fault("rate_limit", retry_after=3, contains="Pix")`."""
        await self._send("POST", "/admin/faults", json={"faults": [{"kind": kind, **options}]})

    async def script(
        self,
        content: list[dict[str, Any]],
        *,
        stop_reason: str | None = None,
        contains: str | None = None,
        skip: int = 0,
        times: int = 1,
    ) -> None:
        """Queue a written answer: content blocks without ids and a stop reason."""
        await self.fault(
            "say",
            content=content,
            stop_reason=stop_reason,
            contains=contains,
            skip=skip,
            times=times,
        )

    async def faults(self) -> list[dict[str, Any]]:
        """Return the faults not yet used up."""
        answer = await self._send("GET", "/admin/faults")
        return list(answer["faults"])

    async def clear_faults(self, contains: str | None = None) -> None:
        """Drop the faults with that very filter, or all of them."""
        params = {"contains": contains} if contains else {}
        await self._send("DELETE", "/admin/faults", params=params)

    async def journal(self, *, since: int = 0, contains: str | None = None) -> list[dict[str, Any]]:
        """Return the entries after number `since`, oldest first, only those with that text."""
        params: dict[str, Any] = {"since": since} | ({"contains": contains} if contains else {})
        answer = await self._send("GET", "/admin/journal", params=params)
        return list(answer["entries"])

    async def calls(self, contains: str | None = None) -> int:
        """Return how many calls arrived, all or only those whose prompt or answer has that text."""
        params = {"contains": contains} if contains else {}
        answer = await self._send("GET", "/admin/calls", params=params)
        return int(answer["calls"])

    async def reset(self) -> None:
        """Forget journal, faults, cache and prompts; not for tests that run side by side."""
        await self._send("POST", "/admin/reset")

    async def _send(self, method: str, path: str, **options: Any) -> Any:
        response = await self._http.request(method, path, **options)
        response.raise_for_status()
        return response.json()
