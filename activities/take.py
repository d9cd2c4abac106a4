"""*take*: which messages the next answer is for, unless the only one is a typed yes. Local: SQL
only, and safe to run twice."""

from datetime import datetime
from zoneinfo import ZoneInfo

from temporalio import activity

from activities.deps import Deps
from activities.messages import ActionRef, ConversationRef, Taken
from domain.history import UserLine, UserText
from domain.inbound import InboundKind
from domain.inputs import TREATMENTS, Treatment, words_of
from domain.texts import texts_for
from store import history, outbox, transcripts, turns, typed_yes
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
            confirmed = await typed_yes.take_yes(connection, ref.conversation_id)
            if confirmed is not None:
                return Taken(confirmed=_ref(confirmed))
            turn_id = await turns.take(connection, ref.conversation_id)
            if turn_id is None:
                unsent = await outbox.due(connection, conversation=ref.conversation_id)
                return Taken(unsent=bool(unsent))
            turn = await turns.read(connection, turn_id)
            await turns.bind_member(
                connection, account_id=turn.who.account_id, person=turn.who.person
            )
            if await self._hears(connection, turn, ref):
                return Taken(turn_id=turn_id, hears=True)
            lines = _lines(turn)
            if lines:
                await history.append_turn_entry(
                    connection,
                    conversation=turn.conversation_id,
                    turn=turn.id,
                    slot=f"turn:{turn.id}:input",
                    kind="user_text",
                    content=UserText(lines=lines).model_dump(mode="json"),
                )
            reminded = await typed_yes.remind(connection, turn)
            return Taken(
                turn_id=turn_id,
                thinks=bool(lines),
                reminded=_ref(reminded) if reminded else None,
            )

    async def _hears(self, connection: Connection, turn: Turn, ref: ConversationRef) -> bool:
        if ref.deaf or self._deps.hearing is None:
            return False
        return bool(await transcripts.unheard(connection, turn.id))


def _ref(ring: ToRing) -> ActionRef:
    return ActionRef(action_id=ring.action_id, digest=ring.digest, expires_at=ring.expires_at)


def _lines(turn: Turn) -> tuple[UserLine, ...]:
    """The person's words; a note stands for what cannot be read, if words stand beside it."""
    if not any(words_of(InboundKind(one.kind), one.text) for one in turn.messages):
        return ()
    zone = ZoneInfo(turn.who.time_zone)
    return tuple(_line(message, turn.who.language, zone) for message in turn.messages)


def _line(message: TakenMessage, language: str, zone: ZoneInfo) -> UserLine:
    at: datetime = (message.sent_at or message.received_at).astimezone(zone)
    kind = InboundKind(message.kind)
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
