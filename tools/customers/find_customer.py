"""Finds customers by name, document or id."""

from pydantic import BaseModel, ConfigDict, Field

from domain.documents import mask_document
from domain.people import Who
from store.connection import Connection
from store.customers import Customer
from tools.contract import EVERYONE, Payload, ReadTool
from tools.customer_lookup import SHOWN, matches


class FindCustomerInput(BaseModel):
    """What the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="The customer's name or part of it, CPF/CNPJ, or id.")


class FindCustomer(ReadTool[FindCustomerInput]):
    """A read."""

    name = "find_customer"
    description = (
        "Finds customer records by name, part of a name, CPF/CNPJ or id. "
        "Use it when it is not clear which customer is meant. "
        "Customers find only their own record; documents come masked."
    )
    roles = EVERYONE
    input_model = FindCustomerInput

    async def look_up(self, data: FindCustomerInput, who: Who, db: Connection) -> Payload:
        """The matches; `more` says that there are others."""
        found = await matches(db, who, data.name)
        return {"customers": [_shown(one) for one in found[:SHOWN]], "more": len(found) > SHOWN}


def _shown(customer: Customer) -> Payload:
    return {
        "customer_id": customer.id,
        "name": customer.name,
        "document": mask_document(customer.document) if customer.document else None,
        "email": customer.email,
        "blocked": customer.blocked,
    }
