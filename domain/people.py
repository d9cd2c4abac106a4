"""Who someone is, and who may decide: the business-scoped user id first, the phone second.

The table is design §6 (facts/whatsapp.md §5.4): user ids equal → yes; different, or missing where
the action has one → no, even if the phone matches; only phones known → equal to the byte. Phone
numbers are never rewritten: Meta alters the extra digit of Brazilian numbers by itself, but is
consistent inbound.
"""

import re
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Role(StrEnum):
    """What a person is to an account. Anyone who is not registered is public."""

    OWNER = "owner"
    STAFF = "staff"
    PUBLIC = "public"


class Person(BaseModel):
    """Someone on WhatsApp, as Meta names him: at least one of the two ids is known."""

    model_config = ConfigDict(frozen=True)

    user_id: str | None = None
    wa_id: str | None = None

    def model_post_init(self, _context: object) -> None:
        """Refuse a person without any id: nobody could ever be compared with him."""
        if not self.user_id and not self.wa_id:
            raise ValueError("a person needs a user_id or a wa_id")

    def is_same(self, other: "Person") -> bool:
        """Whether `other`, who acts now, is the person that was frozen (self)."""
        if self.user_id:  # an empty one is none: two of them would be equal
            return other.user_id == self.user_id
        return other.wa_id == self.wa_id


_BRAZILIAN_MOBILE = re.compile(r"(55[1-9][0-9])9?([6-9][0-9]{7})", re.ASCII)
"""Country, area, perhaps the ninth digit, and the eight of before; landlines begin with 2 to 5."""


def dialled_forms(phone: str) -> list[str]:
    """How Meta may name a number that a human dialled: itself, and for a Brazilian mobile the form
    with or without the ninth digit. Only for finding a conversation to be quiet in; nobody decides
    or has a role by such a likeness (facts/whatsapp.md §5.1).
    """
    match = _BRAZILIAN_MOBILE.fullmatch(phone)
    if match is None:
        return [phone]
    both = [f"{match[1]}9{match[2]}", f"{match[1]}{match[2]}"]
    return [phone, *(one for one in both if one != phone)]


class Who(BaseModel):
    """For whom a tool works: the account, the person, the role that was looked up for them."""

    model_config = ConfigDict(frozen=True)

    account_id: str
    time_zone: str
    language: str
    person: Person
    role: Role

    @property
    def is_member(self) -> bool:
        """Members get their account's objects; public people their own only (design §4)."""
        return self.role is not Role.PUBLIC
