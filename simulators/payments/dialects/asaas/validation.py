"""Asks the account's own server whether a transfer is its own, before it goes.

Some seconds after a transfer was taken in, Asaas POSTs the creation's payload with the header
`asaas-access-token`. APPROVED lets it go. Anything else that is an answer cancels it, and so do
three calls that got none.
"""

import asyncio
import hmac
from typing import Any

import httpx
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field

from simulators.payments.dialects.asaas import acts
from simulators.payments.provider import Provider
from simulators.payments.state import Doc

_CALLS = 3
_PAUSE_SECONDS = 0.05
_WAIT_SECONDS = 5.0


class ValidationOrder(BaseModel):
    """Where is asked. `copies`: how often each call is made, as lost answers make Asaas do."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str | None
    token: str = ""
    after_seconds: float = Field(default=0.0, ge=0)
    copies: int = Field(default=1, ge=1, le=50)


class Validation:
    """The validation of one provider; off until a test orders it."""

    def __init__(self, provider: Provider) -> None:
        """Start switched off."""
        self.provider = provider
        self.order = ValidationOrder(url=None)
        self.calls: list[dict[str, Any]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def on(self) -> bool:
        """Whether transfers wait for the account's word."""
        return self.order.url is not None

    def ask(self, transfer: Doc) -> None:
        """Ask about a transfer that was just taken in, beside the answer to its maker."""
        if self.on:
            task = asyncio.create_task(self._decide(self.order, transfer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _decide(self, order: ValidationOrder, transfer: Doc) -> None:
        await asyncio.sleep(order.after_seconds)
        answers = await asyncio.gather(*(self._call(order, transfer) for _ in range(order.copies)))
        approved = all(answer == "APPROVED" for answer in answers)
        acts.decide_transfer(
            self.provider, transfer["id"], approved=approved, why="Recusada na validação de saque."
        )

    async def _call(self, order: ValidationOrder, transfer: Doc) -> str | None:
        """Return the word of the answer, None if there was none in three calls."""
        body = {"type": "TRANSFER", "transfer": transfer}
        for _ in range(_CALLS):
            try:
                async with httpx.AsyncClient(trust_env=False, timeout=_WAIT_SECONDS) as http:
                    answer = await http.post(
                        str(order.url), json=body, headers={"asaas-access-token": order.token}
                    )
                said = answer.json() if answer.status_code == 200 else {}
            except (httpx.HTTPError, ValueError):
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            word = said.get("status") if isinstance(said, dict) else None
            self.calls.append(
                {"transfer": transfer["id"], "http": answer.status_code, "said": word}
            )
            return word if isinstance(word, str) else ""
        self.calls.append({"transfer": transfer["id"], "http": None, "said": None})
        return None


def add_admin(app: FastAPI, validation: Validation) -> None:
    """Mount /admin/asaas/validation, closed without the admin secret."""
    secret = validation.provider.config.admin_secret

    def check(request: Request) -> None:
        given = request.headers.get("X-Sim-Secret", "")
        if not secret or not hmac.compare_digest(given.encode(), secret.encode()):
            raise HTTPException(403, "wrong or missing admin secret")

    @app.put("/admin/asaas/validation")
    async def order(request: Request, wanted: ValidationOrder) -> dict[str, Any]:
        check(request)
        validation.order = wanted
        validation.calls.clear()
        return {"on": validation.on}

    @app.get("/admin/asaas/validation")
    async def calls(request: Request) -> dict[str, Any]:
        check(request)
        return {"calls": list(validation.calls)}
