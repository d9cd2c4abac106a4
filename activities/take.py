"""*take*: which messages the next answer is for, unless the only one is a typed yes. Local: SQL
only, and safe to run twice. While a human has the conversation nothing is taken."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from temporalio import activity

from activities.deps import Deps
from activities.messages import ActionRef, ConversationRef, Taken
from domain.history import UserLine, UserText
from domain.inbound import InboundKind
from domain.inputs import TREATMENTS, Treatment, words_of
from domain.texts import texts_for
from store import choosing, history, identity, outbox, pauses, transcripts, turns, typed_yes
from store.connection import Connection
from store.turns import TakenMessage, Turn
from store.typed_yes import ToRing


class Take:
    """Takes all unhandled messages of a conversation into one turn."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="take")
    async def run(self, ref: ConversationRef) -> Taken:
        """The open turn, or a new one; its input stands in the history afterwards."""
        async with self._deps.pool.acquire() as connection, connection.transaction():
            await turns.lock_conversation(connection, ref.conversation_id)
            pause = await pauses.current(connection, ref.conversation_id)
            if pause is not None:
                await pauses.defer(connection, pause)
                return await self._nothing(connection, ref)
            confirmed = await typed_yes.take_yes(connection, ref.conversation_id)
            if confirmed is not None:
                return Taken(confirmed=_ref(confirmed))
            turn_id = await self._turn(connection, ref.conversation_id)
            if turn_id is None:
                return await self._nothing(connection, ref)
            echoes = await turns.take_echoes(connection, ref.conversation_id, turn_id)
            turn = await turns.read(connection, turn_id)
            await identity.bind(
                connection, phone_number_id=turn.phone_number_id, person=turn.who.person
            )
            if await self._hears(connection, turn, ref):
                return Taken(turn_id=turn_id, hears=True)
            lines = _lines(turn)
            await _write(connection, turn, lines, new_echoes=echoes)
            reminded = await typed_yes.remind(connection, turn)
            return Taken(
                turn_id=turn_id,
                thinks=bool(lines),
                reminded=_ref(reminded) if reminded else None,
            )

    async def _turn(self, connection: Connection, conversation: UUID) -> UUID | None:
        """The open turn, or a new one for the account that the person works for; None if nothing
        waits, or he has to say for which."""
        open_turn = await turns.open_of(connection, conversation)
        if open_turn is not None:
            return open_turn
        await identity.bind_talk(connection, conversation)
        choice = await choosing.account_of_next_turn(connection, conversation)
        if choice.account is None:
            return None
        return await turns.take(connection, conversation, account=choice.account)

    async def _nothing(self, connection: Connection, ref: ConversationRef) -> Taken:
        unsent = await outbox.due(connection, conversation=ref.conversation_id)
        return Taken(unsent=bool(unsent))

    async def _hears(self, connection: Connection, turn: Turn, ref: ConversationRef) -> bool:
        if ref.deaf or self._deps.hearing is None:
            return False
        return bool(await transcripts.unheard(connection, turn.id))


def _ref(ring: ToRing) -> ActionRef:
    return ActionRef(action_id=ring.action_id, digest=ring.digest, expires_at=ring.expires_at)


async def _write(
    connection: Connection, turn: Turn, lines: tuple[UserLine, ...], *, new_echoes: set[UUID]
) -> None:
    """The turn's input, once; what the business's own people wrote stands among it. What they wrote
    while the turn was paused, or beside messages without words, is an entry of its own."""
    slot = f"turn:{turn.id}:input"
    conversation = turn.conversation_id
    written = await history.has_slot(connection, conversation=conversation, slot=slot)
    if written or not lines:
        echoes = [one for one in turn.echoes if one.inbox_id in new_echoes]
        if not echoes:
            return
        lines = _said(echoes, turn)
        slot = f"turn:{turn.id}:echoes:{echoes[0].inbox_id}"
    await history.append_turn_entry(
        connection,
        conversation=conversation,
        turn=turn.id,
        slot=slot,
        kind="user_text",
        content=UserText(lines=lines).model_dump(mode="json"),
    )


def _lines(turn: Turn) -> tuple[UserLine, ...]:
    """The person's words; a note stands for what cannot be read, if words stand beside it."""
    if not any(words_of(InboundKind(one.kind), one.text) for one in turn.messages):
        return ()
    both = [*turn.messages, *turn.echoes]
    order = sorted(both, key=lambda one: (one.sent_at or one.received_at, one.received_at))
    return _said(order, turn)


def _said(messages: Sequence[TakenMessage], turn: Turn) -> tuple[UserLine, ...]:
    zone = ZoneInfo(turn.who.time_zone)
    return tuple(_line(message, turn.who.language, zone) for message in messages)


def _line(message: TakenMessage, language: str, zone: ZoneInfo) -> UserLine:
    at: datetime = (message.sent_at or message.received_at).astimezone(zone)
    kind = InboundKind(message.kind)
    if kind is InboundKind.ECHO:
        return UserLine(
            text=message.text or _note(kind, language),
            at=at.isoformat(timespec="seconds"),
            by_team=True,
        )
    words = words_of(kind, message.text)
    whole = TREATMENTS[kind] in {Treatment.WORDS, Treatment.HEARD}
    parts = [] if whole and words else [_note(kind, language)]
    return UserLine(
        text="\n".join([*parts, *([words] if words else [])]),
        at=at.isoformat(timespec="seconds"),
        forwarded=message.forwarded,
    )


def _note(kind: InboundKind, language: str) -> str:
    return texts_for(language).unreadable_note(kind)
