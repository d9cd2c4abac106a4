"""Whom somebody is to us, as it changes: a first user id is bound, a changed one ends what was.

The trap: a phone number is handed on. So a registration that knows only the phone is bound to the
first user id that the phone shows, and none survives a change of the number or of the user id: who
has it afterwards is a stranger until an operator registers him (design §6).
"""

from uuid import UUID

from domain.inbound import InboundItem
from domain.people import Person
from store.connection import Connection

REREGISTERED = "customer_identity_changed"
"""The same number and user id on another device: nobody else has them, so roles stay and only what
is pending ends (facts/whatsapp.md §5.3)."""


async def bind(connection: Connection, *, phone_number_id: str, person: Person) -> None:
    """Bind the registrations that know only the person's phone to the user id that he shows, in
    every account that the number serves.

    Registered a second time under that user id, he stays two: a conversation must not end on it.
    """
    if person.user_id is None or person.wa_id is None:
        return
    for table, live in (("members", "AND one.active"), ("customer_links", "")):
        await connection.execute(
            f"""
            UPDATE {table} one SET user_id = $2
            WHERE one.user_id IS NULL AND one.wa_id = $3 {live}
                AND one.account_id IN ({_SERVED})
                AND NOT EXISTS (SELECT 1 FROM {table} other WHERE other.user_id = $2
                    AND other.account_id = one.account_id {live.replace("one", "other")})
            """,
            phone_number_id,
            person.user_id,
            person.wa_id,
        )


async def bind_talk(connection: Connection, conversation: UUID) -> None:
    """`bind` for the person of a conversation, before anybody asks what he is."""
    row = await connection.fetchrow(
        "SELECT phone_number_id, user_id, wa_id FROM conversations WHERE id = $1", conversation
    )
    assert row is not None, f"no conversation {conversation!r}"
    person = Person(user_id=row["user_id"], wa_id=row["wa_id"])
    await bind(connection, phone_number_id=row["phone_number_id"], person=person)


_SERVED = (
    "SELECT account_id FROM business_numbers WHERE phone_number_id = $1"
    " UNION SELECT account_id FROM shared_numbers WHERE phone_number_id = $1"
)


async def touched(connection: Connection, item: InboundItem) -> list[UUID]:
    """The conversations that a change of identity is about, the likeliest first.

    Those of a user id that it names, and of its phone where no user id is known. A change that
    names nobody of these but a phone is about every conversation of that phone: which of its
    owners is meant cannot be told, and to cancel one too many does no harm.
    """
    user_ids, phones = _before(item)
    rows = await connection.fetch(
        "SELECT id, coalesce(user_id = ANY($2::text[]), false) AS named,"
        " user_id IS NULL AS phone_only FROM conversations"
        " WHERE phone_number_id = $1 AND closed_at IS NULL"
        " AND (user_id = ANY($2::text[]) OR wa_id = ANY($3::text[]))"
        " AND ($4::text IS NULL OR user_id IS DISTINCT FROM $4)"
        " ORDER BY 2 DESC, created_at DESC",
        item.phone_number_id,
        user_ids,
        phones,
        item.identity.new_user_id if item.identity else None,
    )
    meant = [row["id"] for row in rows if row["named"] or row["phone_only"]]
    return meant or [row["id"] for row in rows]


def _before(item: InboundItem) -> tuple[list[str], list[str]]:
    """The user ids and the phones under which he was known before."""
    change, sender = item.identity, item.sender
    user_ids = {change.previous_user_id if change else None, sender.user_id if sender else None}
    phones = {change.previous_wa_id if change else None, sender.wa_id if sender else None}
    new = {None, change.new_user_id, change.new_wa_id} if change else {None}
    return [one for one in user_ids - new if one], [one for one in phones - new if one]


async def changed(
    connection: Connection, item: InboundItem, *, inbox_id: UUID, conversations: list[UUID]
) -> None:
    """Write whom the stored change is about, and end what must not pass to whoever has the number
    or the user id next: conversations, and registrations that know only the phone."""
    await connection.execute(
        "INSERT INTO identity_changes (inbox_id, conversation_id, received_at)"
        " SELECT $1, touched, received_at FROM inbox, unnest($2::uuid[]) touched WHERE id = $1",
        inbox_id,
        conversations,
    )
    if item.identity is None or item.identity.change == REREGISTERED:
        return
    rows = await connection.fetch(
        "UPDATE conversations SET closed_at = clock_timestamp() WHERE id = ANY($1) RETURNING wa_id",
        conversations,
    )
    phones = {*_before(item)[1], *(row["wa_id"] for row in rows if row["wa_id"])}
    await connection.execute(
        "UPDATE members SET active = false WHERE active AND user_id IS NULL"
        f" AND wa_id = ANY($2::text[]) AND account_id IN ({_SERVED})",
        item.phone_number_id,
        list(phones),
    )
    await connection.execute(
        "DELETE FROM customer_links WHERE user_id IS NULL"
        f" AND wa_id = ANY($2::text[]) AND account_id IN ({_SERVED})",
        item.phone_number_id,
        list(phones),
    )
