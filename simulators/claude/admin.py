"""The back door for tests and the demo: faults, journal, counters, reset."""

import secrets
from typing import Any

from fastapi import APIRouter, Depends, Header, HTTPException
from pydantic import BaseModel, ConfigDict

from simulators.claude.faults import Fault
from simulators.claude.service import Service


class FaultList(BaseModel):
    """The body of POST /admin/faults."""

    model_config = ConfigDict(extra="forbid")

    faults: list[Fault]


def admin_router(service: Service) -> APIRouter:
    """Return the routes under /admin; each asks for the header `X-Sim-Secret`."""

    async def guard(x_sim_secret: str = Header(default="")) -> None:
        wanted = service.config.admin_secret
        if wanted is None:
            raise HTTPException(404, "the admin routes are closed: no admin secret is set")
        if not secrets.compare_digest(x_sim_secret.encode(), wanted.encode()):
            raise HTTPException(403, "wrong X-Sim-Secret")

    router = APIRouter(prefix="/admin", dependencies=[Depends(guard)])
    _add_fault_routes(router, service)
    _add_journal_routes(router, service)
    return router


def _add_fault_routes(router: APIRouter, service: Service) -> None:
    @router.post("/faults")
    async def add_faults(body: FaultList) -> dict[str, int]:
        service.plan.add(body.faults)
        return {"queued": len(service.plan.left())}

    @router.get("/faults")
    async def show_faults() -> dict[str, Any]:
        return {"faults": [fault.model_dump() for fault in service.plan.left()]}

    @router.delete("/faults")
    async def drop_faults(contains: str | None = None) -> dict[str, int]:
        service.plan.clear(contains)
        return {"queued": len(service.plan.left())}


def _add_journal_routes(router: APIRouter, service: Service) -> None:
    @router.get("/journal")
    async def show_journal(since: int = 0, contains: str | None = None) -> dict[str, Any]:
        entries = service.journal.since(since, contains)
        return {"entries": [e.model_dump() for e in entries], "calls": service.journal.calls}

    @router.get("/calls")
    async def count_calls(contains: str | None = None) -> dict[str, int]:
        calls = service.journal.calls
        return {"calls": len(service.journal.since(0, contains)) if contains else calls}

    @router.post("/reset")
    async def reset() -> dict[str, bool]:
        service.reset()
        return {"reset": True}
