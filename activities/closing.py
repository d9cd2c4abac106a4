"""*answer* and *close*: the end of a turn, with a reply, a template, or a proposal."""

from uuid import UUID

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities import calls
from activities.deps import Deps
from activities.messages import StepRef, TurnEnd
from activities.sending import send_all
from activities.watching import count, watch
from channels.whatsapp.limits import TEXT_BODY, measure
from domain.history import AssistantBlocks, SentText, kind_of
from domain.inbound import InboundKind
from domain.texts import Texts, texts_for
from llm.answers import Reply, Truncated, classify
from store import history, outbox, pauses, turns
from store.connection import Connection
from store.outbox import NewMessage
from store.turns import Turn


class Answer:
    """Sends the model's reply, if the facts on which it was thought still hold."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="answer")
    async def run(self, ref: StepRef) -> bool:
        """Whether the reply stands; False: the facts moved, think again."""
        async with self._deps.pool.acquire() as connection:
            turn = await turns.read(connection, ref.turn_id)
            stored = await turns.stored_answer(connection, turn=ref.turn_id, step=ref.step)
        assert stored is not None, "answer runs after think stored its answer"
        step = classify(calls.as_model_answer(stored), tools_allowed=not ref.last)
        text = step.text if isinstance(step, Reply | Truncated) else None
        assert text, f"step {ref.step} of turn {ref.turn_id} is no reply"
        async with self._deps.pool.acquire() as connection, connection.transaction():
            await turns.lock_conversation(connection, turn.conversation_id)
            now = await turns.read(connection, ref.turn_id)
            sent = await outbox.exists(connection, f"turn:{turn.id}:reply:0")
            if not sent and now.facts_seq != stored.facts_seq:
                return False
            watched = None
            if not sent:
                watched = await watch(self._deps, connection, turn, text)
                said = watched.instead or text
                await _store_reply(connection, turn, said, ours=watched.instead is not None)
        if watched is not None:
            count(turn, watched)
        await _send(self._deps, turn.conversation_id)
        return True


async def _store_reply(connection: Connection, turn: Turn, text: str, *, ours: bool) -> None:
    """Message and history: the model's reply, or the text of ours that is said in its place."""
    content = (
        SentText(text=text) if ours else AssistantBlocks(blocks=({"type": "text", "text": text},))
    )
    await _enqueue(connection, turn, split(text), purpose="reply")
    await history.append_turn_entry(
        connection,
        conversation=turn.conversation_id,
        turn=turn.id,
        slot=f"turn:{turn.id}:reply",
        kind=kind_of(content).value,
        content=content.model_dump(mode="json"),
    )


class Apologise:
    """Answers by a template: no model is there, or nothing that it could read came in."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="apologise")
    async def run(self, turn_id: UUID) -> bool:
        """Whether anything was said. Raises ApplicationError of type `paused`, not to be retried,
        while a human has the conversation: the turn is not over then."""
        async with self._deps.pool.acquire() as connection:
            turn = await turns.read(connection, turn_id)
        readable = await _has_input(self._deps, turn)
        texts = texts_for(turn.who.language)
        lines = [texts.model_unavailable()] if readable else _unreadable(texts, turn)
        if not lines:
            return False
        async with self._deps.pool.acquire() as connection, connection.transaction():
            await turns.lock_conversation(connection, turn.conversation_id)
            if await pauses.current(connection, turn.conversation_id) is not None:
                raise ApplicationError("a human answers", type="paused", non_retryable=True)
            await _enqueue(connection, turn, lines, purpose="reply")
            if readable:
                await history.append_turn_entry(
                    connection,
                    conversation=turn.conversation_id,
                    turn=turn.id,
                    slot=f"turn:{turn.id}:reply",
                    kind="sent_text",
                    content=SentText(text=lines[0]).model_dump(mode="json"),
                )
        await _send(self._deps, turn.conversation_id)
        return True


class Close:
    """Closes the turn and its boundary. Local: SQL only."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="close")
    async def run(self, end: TurnEnd) -> bool:
        """Whether more messages wait."""
        async with self._deps.pool.acquire() as connection:
            return await turns.close(connection, turn=end.turn_id, outcome=end.outcome)


async def _has_input(deps: Deps, turn: Turn) -> bool:
    async with deps.pool.acquire() as connection:
        return await history.has_slot(
            connection, conversation=turn.conversation_id, slot=f"turn:{turn.id}:input"
        )


def _unreadable(texts: Texts, turn: Turn) -> list[str]:
    """One short answer for each kind that cannot be read; silence where a kind needs none."""
    kinds = dict.fromkeys(InboundKind(message.kind) for message in turn.messages)
    said = (texts.unsupported_input(kind) for kind in kinds)
    return list(dict.fromkeys(text for text in said if text))


def split(text: str) -> list[str]:
    """The reply in messages that fit, cut at paragraphs, then at words."""
    parts: list[str] = []
    rest = text.strip()
    while measure(rest) > TEXT_BODY.maximum:
        head = _head(rest)
        parts.append(head.strip())
        rest = rest[len(head) :].strip()
    return [*parts, rest]


def _head(text: str) -> str:
    piece = text[: TEXT_BODY.maximum // 2]  # half: a code point may count as two units
    for mark in ("\n\n", "\n", " "):
        cut = piece.rfind(mark)
        if cut > 0:
            return piece[:cut]
    return piece


async def _enqueue(connection: Connection, turn: Turn, lines: list[str], *, purpose: str) -> None:
    for n, line in enumerate(lines):
        await outbox.enqueue(
            connection,
            conversation=turn.conversation_id,
            turn=turn.id,
            message=NewMessage(
                key=f"turn:{turn.id}:reply:{n}",
                purpose=purpose,
                message={"type": "text", "text": line},
            ),
        )


async def _send(deps: Deps, conversation: UUID) -> None:
    async with deps.pool.acquire() as connection:
        keys = await outbox.due(connection, conversation=conversation)
    await send_all(deps, keys)
