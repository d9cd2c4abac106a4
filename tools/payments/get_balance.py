"""Says what the business may still transfer."""

from pydantic import BaseModel, ConfigDict

from domain.errors import ToolInputError
from domain.people import Who
from domain.texts import texts_for
from store import charges
from store.connection import Connection
from tools.contract import Payload, ReadTool
from tools.payments.transfer_balance import TransferBalance


class GetBalanceInput(BaseModel):
    """Nothing to say: there is one balance."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class GetBalance(ReadTool[GetBalanceInput]):
    """A read, for members."""

    name = "get_balance"
    description = (
        "Says how much money the business has available to transfer. "
        "Use it when the person asks for the balance or before you propose a transfer. "
        "Transfers that are under way are taken off already."
    )
    input_model = GetBalanceInput

    async def look_up(self, data: GetBalanceInput, who: Who, db: Connection) -> Payload:
        """The balance in cents and as text."""
        say = texts_for(who.language)
        held = await charges.available_cents(db, who.account_id)
        if held is None:
            raise ToolInputError(say.balance_too_low(0))
        away = await charges.cents_on_their_way(db, who.account_id, TransferBalance.name)
        available = max(0, held - away)
        return {
            "available_cents": available,
            "available": say.money(available),
            "on_its_way_cents": away,
        }
