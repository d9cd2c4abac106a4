"""The pages a test steers and asks the simulator by; closed without the secret."""

import hmac
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from pydantic import BaseModel, Field

from simulators.payments.dialects import Dialect
from simulators.payments.faults import Fault
from simulators.payments.journal import count
from simulators.payments.replies import RefusedError
from simulators.payments.serving import Bank

SECRET_HEADER = "X-Sim-Secret"  # noqa: S105 - the header's name, not a secret


class ClockMove(BaseModel):
    """How far the provider's clock is moved, in seconds."""

    advance_seconds: float = Field(ge=0)


def add_routes(app: FastAPI, bank: Bank, spoken: Sequence[Dialect]) -> None:
    """Add /healthz and /admin to `app`."""
    secret = bank.provider.config.admin_secret

    def check(request: Request) -> None:
        given = request.headers.get(SECRET_HEADER, "")
        if not secret or not hmac.compare_digest(given.encode(), secret.encode()):
            raise HTTPException(403, "wrong or missing admin secret")

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    router = APIRouter(prefix="/admin", dependencies=[Depends(check)])
    _add_faults(router, bank)
    _add_questions(router, bank)
    _add_events(router, bank, spoken)
    app.include_router(router)


def _add_faults(router: APIRouter, bank: Bank) -> None:
    @router.post("/faults", status_code=201)
    async def add_fault(fault: Fault) -> dict[str, Any]:
        bank.faults.add(fault)
        return {"faults": bank.faults.remaining()}

    @router.get("/faults")
    async def list_faults() -> dict[str, Any]:
        return {"faults": bank.faults.remaining()}

    @router.delete("/faults")
    async def clear_faults() -> dict[str, Any]:
        bank.faults.clear()
        return {"faults": []}


def _add_questions(router: APIRouter, bank: Bank) -> None:
    @router.get("/journal")
    async def journal() -> dict[str, Any]:
        return {"requests": bank.journal.entries()}

    @router.get("/effects")
    async def effects() -> dict[str, Any]:
        return {"effects": bank.provider.state.effects()}

    @router.get("/counters")
    async def counters() -> dict[str, Any]:
        return count(bank.provider.state.effects(), in_flight=bank.journal.in_flight)


def _add_events(router: APIRouter, bank: Bank, spoken: Sequence[Dialect]) -> None:
    @router.post("/reset")
    async def reset() -> dict[str, str]:
        bank.provider.state.reset()
        bank.faults.clear()
        bank.journal.clear()
        return {"status": "reset"}

    @router.post("/pay/{charge_id}")
    async def pay(charge_id: str) -> dict[str, Any]:
        try:
            for dialect in spoken:
                if (paid := dialect.pay(bank.provider, charge_id)) is not None:
                    return paid
        except RefusedError as refused:
            raise HTTPException(refused.reply.status, str(refused)) from None
        raise HTTPException(404, f"no charge {charge_id!r}")

    @router.post("/clock")
    async def move_clock(move: ClockMove) -> dict[str, float]:
        bank.provider.state.add_number("clock_offset", move.advance_seconds)
        return {"now": bank.provider.state.now()}
