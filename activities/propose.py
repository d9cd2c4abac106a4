"""*propose*: an effect becomes a frozen action that waits for a person. Local: SQL only.

*prepare* runs first and may fail without changing anything. What is shown, what is stored and what
will be sent are made here, once, from the resolved payload; the model writes no word of it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from temporalio import activity

from activities import calls
from activities.calls import Answer
from activities.deps import Deps
from activities.failures import may_pass, permanent
from activities.messages import ActionRef, ProposalDone, ProposalOutcome, StepRef
from channels.whatsapp.buttons import button_id
from channels.whatsapp.limits import MessageRefusedError, check_prompt
from domain import ids
from domain.actions import Status
from domain.business_key import business_key
from domain.canonical import JsonValue, action_digest, check_json, sha256_hex
from domain.cleaning import clean_value
from domain.errors import ToolInputError
from domain.history import SentText, ToolResult
from domain.outbound import PromptMessage
from domain.texts import Texts, texts_for
from gateways.contract import RenderError
from llm.answers import ToolCall
from store import proposing, turns
from store.actions import Action
from store.connection import Connection, read_only
from store.proposing import Proposal, Proposed, TurnHistory
from store.turns import StoredAnswer, Turn
from tools.contract import Confirm, EffectTool, Prepared, Risk

LONGEST_WAIT = timedelta(minutes=60)  # design §3: the world that was summarised grows old
SHORTEST_LOCK_S = 120.0  # a direct tool's time before another attempt may take over


@dataclass(frozen=True, kw_only=True)
class _Work:
    turn: Turn
    step: int
    stored: StoredAnswer
    answer: Answer
    call: ToolCall
    others: list[ToolResult]
    own: Action | None


@dataclass(frozen=True, kw_only=True)
class _Frozen:
    proposal: Proposal
    prompt_text: str


class Propose:
    """Turns the first effect of an answer into an action."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="propose")
    async def run(self, ref: StepRef) -> ProposalDone:
        """What became of it; a repeat finds its own action. Raises ApplicationError, not to be
        retried, for what will fail the same way again (a tool's fault, an account without its
        gateway): the turn ends by a template, where retrying for ever would end the conversation.
        """
        work = await self._read(ref)
        if work.own is not None:
            return _done(work.own)
        try:
            return await self._propose(work)
        except Exception as error:
            if may_pass(error):
                raise
            raise permanent("propose", error) from None

    async def _propose(self, work: _Work) -> ProposalDone:
        try:
            tool = calls.offered_tool(self._deps.registry, work.turn, work.call)
            assert isinstance(tool, EffectTool)
            frozen = await self._freeze(work, tool)
        except (ToolInputError, MessageRefusedError, RenderError) as error:
            return await self._answered(work, calls.error_result(work.call, str(error)))
        return await self._store(work, tool, frozen)

    async def _read(self, ref: StepRef) -> _Work:
        async with self._deps.pool.acquire() as connection:
            turn = await turns.read(connection, ref.turn_id)
            stored = await turns.stored_answer(connection, turn=ref.turn_id, step=ref.step)
            reads = await turns.read_results(connection, turn=ref.turn_id, step=ref.step)
            own = await _own(connection, turn, ref.step)
        assert stored is not None, "propose runs after think stored its answer"
        answer = calls.read_answer(stored)
        effects = [one for one in answer.calls if calls.is_effect(self._deps.registry, one)]
        second = calls.second_effects(turn, effects)
        return _Work(
            turn=turn,
            step=ref.step,
            stored=stored,
            answer=answer,
            call=effects[0],
            others=[*(ToolResult.model_validate(one) for one in reads), *second],
            own=own,
        )

    async def _freeze(self, work: _Work, tool: EffectTool[Any]) -> _Frozen:
        data = calls.validated(work.turn, tool, work.call)
        async with read_only(self._deps.pool) as db:
            prepared = await tool.prepare(data, work.turn.who, db)
            now = await proposing.now(db)
            return await self._frozen(work, tool, prepared, now, db)

    async def _frozen(
        self,
        work: _Work,
        tool: EffectTool[Any],
        prepared: Prepared,
        now: datetime,
        db: Connection,
    ) -> _Frozen:
        turn, who = work.turn, work.turn.who
        check_json(prepared.payload)
        payload_hash = sha256_hex(prepared.payload)
        confirm = policy(tool, turn.settings)
        direct = confirm is Confirm.DIRECT
        action_id = (
            ids.direct_action_id(turn.id, tool=tool.name, payload_hash=payload_hash)
            if direct
            else ids.action_id(turn.id)
        )
        request = await self._render(prepared, action_id, who.account_id, db)
        expires_at = now + min(prepared.expires_in, LONGEST_WAIT)
        texts = texts_for(who.language)
        summary = _named(texts, prepared.summary, turn)
        prompt_text = _prompt_text(texts, summary, expires_at, now, who.time_zone)
        prompt = _prompt(texts, prompt_text, action_id)
        digest = action_digest(
            tool=tool.name,
            tool_version=tool.version,
            payload=prepared.payload,
            summary=prompt_text,
            request=request,
            account_id=who.account_id,
            phone_number_id=turn.phone_number_id,
            user_id=who.person.user_id,
            wa_id=who.person.wa_id,
            expires_at=expires_at,
        )
        proposal = Proposal(
            action_id=action_id,
            turn=turn.id,
            step=work.step,
            conversation=turn.conversation_id,
            who=who,
            phone_number_id=turn.phone_number_id,
            tool=tool.name,
            tool_version=tool.version,
            risk=tool.risk.value,
            confirm=confirm.value,
            effect=tool.effect.value,
            payload=prepared.payload,
            payload_hash=payload_hash,
            summary=prompt_text,
            request=request,
            digest=digest,
            business_key=_business_key(who.account_id, prepared),
            compensates=prepared.compensates,
            expires_at=expires_at,
            facts_seq=work.stored.facts_seq,
            prompt=None if direct else prompt.model_dump(mode="json"),
            locked_for_s=lock_seconds(tool) if direct else None,
        )
        return _Frozen(proposal=proposal, prompt_text=prompt_text)

    async def _render(
        self, prepared: Prepared, action_id: str, account_id: str, db: Connection
    ) -> dict[str, JsonValue] | None:
        if prepared.render is None:
            return None
        gateway = await self._deps.gateways.of(db, account_id)
        request: dict[str, JsonValue] = prepared.render(gateway, action_id).model_dump(mode="json")
        check_json(request)
        return request

    async def _store(self, work: _Work, tool: EffectTool[Any], frozen: _Frozen) -> ProposalDone:
        proposal = frozen.proposal
        direct = proposal.confirm == Confirm.DIRECT.value
        written = TurnHistory(
            entries=[] if direct else _entries(work, frozen),
            calls=calls.calls_slot(work.turn, work.step),
        )
        async with self._deps.pool.acquire() as connection:
            result = await proposing.propose(connection, proposal, written)
        if result.what is Proposed.STALE:
            return ProposalDone(outcome=ProposalOutcome.STALE)
        if result.what is Proposed.ANSWERED:
            return ProposalDone(outcome=ProposalOutcome.ANSWERED)
        assert result.action is not None
        if result.what is Proposed.EQUAL:
            data = equal_data(tool, result.action)
            return await self._answered(work, calls.data_result(work.call, data))
        return _done(result.action)

    async def _answered(self, work: _Work, result: ToolResult) -> ProposalDone:
        """The calls are answered without a proposal, unless another try made one meanwhile."""
        slots = calls.pair(work.turn, work.step, work.answer, [result, *work.others])
        async with self._deps.pool.acquire() as connection, connection.transaction():
            await turns.lock_conversation(connection, work.turn.conversation_id)
            own = await _own(connection, work.turn, work.step)
            if own is not None:
                return _done(own)
            await calls.write(connection, work.turn, slots)
        return ProposalDone(outcome=ProposalOutcome.ANSWERED)


async def _own(connection: Connection, turn: Turn, step: int) -> Action | None:
    return await proposing.proposed_at(
        connection, conversation=turn.conversation_id, turn=turn.id, step=step
    )


def _done(action: Action) -> ProposalDone:
    direct = action.confirm == Confirm.DIRECT.value
    outcome = ProposalOutcome.DIRECT if direct else ProposalOutcome.PROPOSED
    return ProposalDone(outcome=outcome, action=ref_of(action))


def policy(tool: EffectTool[Any], settings: dict[str, Any]) -> Confirm:
    """How this tool is decided here: its own policy, or `direct` where the account chose it for a
    reversible tool. Critical and money-moving tools always need a decision (design §4)."""
    chosen = tool.name in settings.get("direct_tools", [])
    may_be_direct = tool.risk is Risk.REVERSIBLE and not tool.moves_money
    return Confirm.DIRECT if chosen and may_be_direct else tool.confirm


def lock_seconds(tool: EffectTool[Any]) -> float:
    """The tool's timeout and half of it again, at least two minutes (design §5)."""
    return max(tool.timeout.total_seconds() * 1.5, SHORTEST_LOCK_S)


def equal_data(tool: EffectTool[Any], action: Action) -> dict[str, JsonValue]:
    """What the model is told when an equal effect lives already."""
    if action.status is Status.EXECUTED:
        known = tool.already_done(action.payload, action.result or {})
        return {"already_done": True, "action_id": action.id, **known}
    return in_progress_data(action)


def in_progress_data(action: Action) -> dict[str, JsonValue]:
    """What the model is told of an action that is not done: `being_verified` once its outcome had
    to be looked up, so that it tells the person that, and not that it will be done in a moment."""
    data: dict[str, JsonValue] = {
        "already_in_progress": True,
        "action_id": action.id,
        "status": action.status.value,
    }
    if action.status is Status.EXECUTING and action.looks > 0:
        data["being_verified"] = True
    return data


def ref_of(action: Action) -> ActionRef:
    """What a workflow is given of an action."""
    return ActionRef(action_id=action.id, digest=action.digest, expires_at=action.expires_at)


def _business_key(account_id: str, prepared: Prepared) -> str | None:
    if prepared.business_key is None:
        return None
    return business_key(account_id, prepared.business_key)


def _named(texts: Texts, summary: str, turn: Turn) -> str:
    """The summary, with the account where a member may mean another one of the same number."""
    if not turn.shared or not turn.who.is_member:
        return summary
    return f"{summary}\n{texts.account_line(clean_value(turn.account_name, field='account'))}"


def _prompt_text(
    texts: Texts, summary: str, expires_at: datetime, now: datetime, time_zone: str
) -> str:
    zone = ZoneInfo(time_zone)
    return texts.prompt_text(
        summary, expires_at.astimezone(zone), today=now.astimezone(zone).date()
    )


def _prompt(texts: Texts, text: str, action_id: str) -> PromptMessage:
    prompt = PromptMessage(
        text=text,
        confirm_id=button_id("confirm", action_id),
        confirm_title=texts.confirm_title,
        cancel_id=button_id("cancel", action_id),
        cancel_title=texts.cancel_title,
    )
    check_prompt(
        text,
        [(prompt.confirm_id, prompt.confirm_title), (prompt.cancel_id, prompt.cancel_title)],
    )
    return prompt


def _entries(work: _Work, frozen: _Frozen) -> list[calls.Slot]:
    """What a proposal leaves in the history: the call, its result (data, no instruction) and the
    exact text of the prompt as the assistant's (design §7)."""
    proposal = frozen.proposal
    result = calls.data_result(
        work.call,
        {
            "status": Status.PENDING.value,
            "action_id": proposal.action_id,
            "expires_at": proposal.expires_at.astimezone(
                ZoneInfo(work.turn.who.time_zone)
            ).isoformat(timespec="seconds"),
        },
    )
    return [
        *calls.pair(work.turn, work.step, work.answer, [result, *work.others]),
        (
            f"action:{proposal.action_id}:prompt",
            "sent_text",
            SentText(text=frozen.prompt_text).model_dump(mode="json"),
        ),
    ]
