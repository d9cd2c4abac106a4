"""Persons and their chats, in order, with a signal for whoever waits for a change."""

import asyncio
import hashlib
import re
import time

from simulators.whatsapp.config import Person
from simulators.whatsapp.models import ChatMessage
from simulators.whatsapp.storage import Storage


class UnknownPersonError(LookupError):
    """No person of that id; the message names the id."""


class Chats:
    """All chats of the business number. `version` grows with every visible change."""

    def __init__(self, persons: tuple[Person, ...], storage: Storage) -> None:
        self._defaults = persons
        self._storage = storage
        self.version = 0
        self._changed = asyncio.Event()
        self.persons: dict[str, Person] = {}
        self._by_phone: dict[str, str] = {}
        self._by_user_id: dict[str, str] = {}
        self._messages: list[ChatMessage] = []
        self._by_wamid: dict[str, ChatMessage] = {}
        self._by_person: dict[str, list[ChatMessage]] = {}
        self._load()

    def _load(self) -> None:
        for person in (*self._defaults, *self._storage.persons()):
            self._index_person(person)
        for message in self._storage.messages():
            self._index(message)

    def clear(self) -> None:
        """Forget chats and added persons; the sequence keeps growing within the process."""
        for people in (self.persons, self._by_phone, self._by_user_id):
            people.clear()
        for person in self._defaults:
            self._index_person(person)
        self._messages.clear()
        self._by_wamid.clear()
        self._by_person.clear()
        self.touch()

    def person(self, person_id: str) -> Person:
        """Return a person, or raise UnknownPersonError."""
        try:
            return self.persons[person_id]
        except KeyError:
            raise UnknownPersonError(f"no person {person_id!r}") from None

    def put_person(self, person: Person) -> None:
        """Add a person or change one (a new number, a new user id)."""
        self._index_person(person)
        self._storage.save_person(person)
        self.touch()

    def add_number(self, phone: str) -> Person:
        """Return the person with this phone, made up if new, with a user id of its own."""
        digits = re.sub(r"\D", "", phone)
        if not 8 <= len(digits) <= 15:
            raise ValueError(f"not a phone number with country code: {phone!r}")
        found = self.by_phone(digits)
        if found is not None:
            return found
        tail = int(hashlib.sha256(digits.encode()).hexdigest()[:14], 16)
        person = Person(id=f"n{digits}", name=f"+{digits}", wa_id=digits, user_id=f"BR.{tail:016d}")
        self.put_person(person)
        return person

    def by_phone(self, digits: str) -> Person | None:
        """Return whoever a phone reaches; Meta bridges the ninth digit of Brazilian mobiles."""
        for variant in _brazilian_variants(digits):
            if variant in self._by_phone:
                return self.persons[self._by_phone[variant]]
        return None

    def by_user_id(self, user_id: str) -> Person | None:
        """Return the person with this business-scoped user id."""
        person_id = self._by_user_id.get(user_id)
        return None if person_id is None else self.persons[person_id]

    def next_seq(self) -> int:
        """Return the number of the next message."""
        return self._messages[-1].seq + 1 if self._messages else 1

    def add(self, message: ChatMessage) -> None:
        """Append a message to its person's chat."""
        self._index(message)
        self._storage.save_message(message)
        self.touch()

    def set_status(self, message: ChatMessage, status: str) -> None:
        """Change a message's status in place."""
        if message.status != status:
            message.status = status
            self._storage.save_message(message)
            self.touch()

    def find(self, wamid: str) -> ChatMessage | None:
        """Return a message by id."""
        return self._by_wamid.get(wamid)

    def of(self, person_id: str) -> list[ChatMessage]:
        """Return a person's chat in order."""
        return list(self._by_person.get(person_id, ()))

    def all(self) -> list[ChatMessage]:
        """Return every message in order."""
        return list(self._messages)

    def touch(self) -> None:
        """Wake all who wait for a change."""
        self.version += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def wait_change(self, since: int, *, timeout_seconds: float) -> bool:
        """Wait until `version` differs from `since`; false when the time is up."""
        deadline = time.monotonic() + timeout_seconds
        while self.version == since:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                return False
        return True

    def _index_person(self, person: Person) -> None:
        before = self.persons.get(person.id)
        if before is not None:  # a changed number or user id no longer reaches him
            self._by_phone.pop(before.wa_id or "", None)
            self._by_user_id.pop(before.user_id or "", None)
        self.persons[person.id] = person
        if person.wa_id:
            self._by_phone[person.wa_id] = person.id
        if person.user_id:
            self._by_user_id[person.user_id] = person.id

    def _index(self, message: ChatMessage) -> None:
        self._messages.append(message)
        self._by_wamid[message.wamid] = message
        self._by_person.setdefault(message.person, []).append(message)


def _brazilian_variants(digits: str) -> list[str]:
    found = [digits]
    if digits.startswith("55") and len(digits) == 13 and digits[4] == "9":
        found.append(digits[:4] + digits[5:])
    if digits.startswith("55") and len(digits) == 12 and digits[4] in "6789":
        found.append(digits[:4] + "9" + digits[4:])
    return found
