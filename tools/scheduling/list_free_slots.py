"""Lists the free times of a day."""

from pydantic import BaseModel, ConfigDict, Field

from domain.dates import parse_date
from domain.people import Who
from store.connection import Connection
from tools.account_time import local_iso
from tools.contract import EVERYONE, Payload, ReadTool
from tools.scheduling.slots import free_slots, professionals_for

MOST_SLOTS = 60
"""Six professionals with a full day of ten hours; more is no answer for a phone."""


class ListFreeSlotsInput(BaseModel):
    """What the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: str = Field(description="The day in ISO 8601, e.g. 2026-12-01.")
    professional: str | None = Field(
        default=None, description="The professional's name or id. Leave it out for all."
    )


class ListFreeSlots(ReadTool[ListFreeSlotsInput]):
    """A read."""

    name = "list_free_slots"
    description = (
        "Lists the free times of one day, of one professional or of all. "
        "Use it before you propose a booking. "
        "Times come in the business's time zone; a day in the past has none."
    )
    roles = EVERYONE
    input_model = ListFreeSlotsInput

    async def look_up(self, data: ListFreeSlotsInput, who: Who, db: Connection) -> Payload:
        """The free slots; `more` says that the list goes on."""
        day = parse_date(data.date)
        wanted = await professionals_for(db, who, data.professional)
        free = await free_slots(db, who, wanted, day)
        return {
            "date": day.isoformat(),
            "free": [
                {
                    "starts_at": local_iso(slot.starts_at, who),
                    "professional": slot.professional.name,
                    "minutes": slot.minutes,
                }
                for slot in free[:MOST_SLOTS]
            ],
            "more": len(free) > MOST_SLOTS,
        }
