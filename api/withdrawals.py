"""Asaas' withdrawal validation: asked before money leaves, answered from the ledger, never a 500.

Whatever goes wrong here is a refusal: a legitimate withdrawal that is cancelled can be proposed
again, one that went out by mistake does not come back (facts: payments §11). A caller without the
account's token is told nothing and writes nothing.
"""

import asyncio
import hmac
import logging

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from domain.errors import OperatorError
from domain.outcomes import ProviderRequest
from gateways.asaas_withdrawal import Withdrawal, differs, read_withdrawal
from settings import read_secret
from store import withdrawals
from store.accounts import gateway_config_of
from store.actions import Action
from store.connection import Pool
from store.withdrawals import Operation

log = logging.getLogger(__name__)

MOST_BYTES = 64 * 1024  # a transfer's payload is under two kilobytes
DECIDE_WITHIN_S = 8.0  # beyond it the answer is a refusal; Asaas would give up by itself
HEADER = "asaas-access-token"
OPTION = "withdrawal_token"
"""The gateway configuration's name for the secret that Asaas sends in the header."""


class Withdrawals:
    """The endpoint. `path` is where Asaas calls for an account."""

    path = "/providers/asaas/{account}/withdrawal-validation"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def router(self) -> APIRouter:
        """The one route."""
        router = APIRouter()
        router.add_api_route(self.path, self.validate, methods=["POST"])
        return router

    async def validate(self, request: Request, account: str) -> Response:
        """Say APPROVED or REFUSED; 401 to whoever has not the account's token."""
        try:
            async with asyncio.timeout(DECIDE_WITHIN_S):
                return await self._answer(request, account)
        except Exception as error:
            # Wide on purpose: anything that is not an approval has to be a refusal, not a 500.
            log.error("withdrawal refused: %s", type(error).__name__)
            return _refused("not answered: try again")

    async def _answer(self, request: Request, account: str) -> Response:
        given = request.headers.getlist(HEADER)
        if not await self._knows(account, given):
            log.warning("withdrawal asked about with a bad token")
            return JSONResponse({"status": "REFUSED"}, status_code=401)
        body = await _read_capped(request)
        if body is None:
            return _refused("too large")
        withdrawal = read_withdrawal(body)
        if withdrawal is None:
            log.warning("withdrawal refused: not one of ours", extra={"account": account})
            return _refused("not an operation that this system makes")
        return await self._decide(account, withdrawal)

    async def _knows(self, account: str, given: list[str]) -> bool:
        """Whether the caller has the account's token; no token configured lets nobody in."""
        async with self._pool.acquire() as connection:
            config = await gateway_config_of(connection, account=account, gateway="asaas")
        named = (config or {}).get(OPTION)
        if not isinstance(named, dict) or set(named) != {"secret"} or len(given) != 1:
            return False
        try:
            token = read_secret(str(named["secret"]))
        except OperatorError as error:
            log.error("no withdrawal token: %s", error)
            return False
        return hmac.compare_digest(given[0].encode("utf-8"), token.encode("utf-8"))

    async def _decide(self, account: str, withdrawal: Withdrawal) -> Response:
        def compare(action: Action) -> str | None:
            if action.request is None:
                return "the action asks for nothing at a provider"
            return differs(withdrawal, ProviderRequest.model_validate(action.request))

        async with self._pool.acquire() as connection:
            answer = await withdrawals.decide(
                connection, _operation(account, withdrawal), differs=compare
            )
        log.info(
            "withdrawal answered",
            extra={"action_id": withdrawal.key, "approved": answer.approved, "why": answer.reason},
        )
        if answer.reason is not None:
            return _refused(answer.reason)
        return JSONResponse({"status": "APPROVED"})


def _operation(account: str, withdrawal: Withdrawal) -> Operation:
    return Operation(
        account_id=account,
        operation_id=withdrawal.operation_id,
        action_id=withdrawal.key,
        is_the_ref=withdrawal.operation == "transfer",
        content=(
            withdrawal.operation,
            withdrawal.key,
            withdrawal.amount_cents,
            withdrawal.destination,
        ),
    )


def _refused(reason: str) -> Response:
    return JSONResponse({"status": "REFUSED", "refuseReason": reason})


async def _read_capped(request: Request) -> bytes | None:
    """The body, or None as soon as it is over the limit: the length header may lie."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)
