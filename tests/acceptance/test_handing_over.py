"""A human takes a conversation over, through real processes: the agent is quiet and loses nothing,
and what is pending goes on being decidable."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from domain import ids
from domain.texts import texts_for
from store import checking
from tests.acceptance.operator import aval, skip
from tests.acceptance.test_typed_yes import REMINDER, booking, bookings, later
from tests.harness.databases import Databases
from tests.harness.receiver import receiving
from tests.harness.scenes import ask, heard, model_calls, propose
from tests.harness.stack import Stack, running_stack
from tests.harness.team import write_as_team
from workflows import alerts

TEXTS = texts_for("pt-BR")
BALANCE = "qual é o meu saldo?"
HUMAN = "quero falar com um atendente"
BY = ("--operator", "Rita")


async def conversation(stack: Stack) -> str:
    """The id of the only conversation."""
    return str(await stack.pool.fetchval("SELECT id FROM conversations"))


async def paused(stack: Stack, *, hours: int | None = None) -> str:
    """Maria's conversation, begun and then paused by an operator; its id."""
    await ask(stack, "bom dia")
    await stack.quiet()
    found = await conversation(stack)
    more = ("--hours", str(hours)) if hours else ()
    code, said = await aval(stack, "conversations", "pause", found[:8], *BY, *more)
    assert (code, "quiet until" in said) == (0, True), said
    return found


async def resume(stack: Stack) -> None:
    """An operator gives the conversation back."""
    code, said = await aval(stack, "conversations", "resume", await conversation(stack), *BY)
    assert (code, "reads on" in said) == (0, True), said


async def waiting(stack: Stack) -> list[str]:
    """The texts that nobody handled yet."""
    rows = await stack.pool.fetch("SELECT text FROM inbox WHERE done_at IS NULL ORDER BY seq")
    return [row["text"] for row in rows]


async def settled(stack: Stack, messages: int) -> None:
    """Until so many messages were found to wait for the pause's end, and nothing else to do."""
    for _ in range(200):
        deferred = await stack.pool.fetchval(
            "SELECT count(*) FROM inbox i JOIN pauses p USING (conversation_id)"
            " WHERE done_at IS NULL AND ring_at = p.until AND ended_at IS NULL"
        )
        if deferred == messages:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{deferred} of {messages} messages wait for the pause's end")


async def last_run(stack: Stack) -> str:
    """Which run of the conversation's workflow was the last one."""
    turn = ids.turn_workflow_id(await stack.pool.fetchval("SELECT id FROM conversations"))
    return (await stack.temporal.get_workflow_handle(turn).describe()).run_id


async def said_to_model(stack: Stack) -> str:
    """The user's side of the last call, as the model got it."""
    messages: list[dict[str, Any]] = (await stack.claude.journal())[-1]["messages"]
    blocks = [block for one in messages if one["role"] == "user" for block in one["content"]]
    return "\n".join(block.get("text", "") for block in blocks)


async def test_while_paused_nothing_is_read_and_afterwards_all_of_it(stack: Stack) -> None:
    """Three messages during an operator's pause: no call of the model, no word to the person, and
    the workflow is not rung again and again; resumed, one turn reads all three and answers."""
    await paused(stack)
    calls, texts = await model_calls(stack), await heard(stack)
    for text in ("oi?", "tem alguém aí?", BALANCE):
        await stack.whatsapp.send_text("maria", text)
    await settled(stack, 3)
    run = await last_run(stack)
    await asyncio.sleep(7)  # the first ring of a row that nobody handled comes after five seconds
    assert await last_run(stack) == run
    assert (await model_calls(stack), await heard(stack)) == (calls, texts)
    assert await waiting(stack) == ["oi?", "tem alguém aí?", BALANCE]
    await resume(stack)
    await stack.whatsapp.wait_message("maria", contains="1.000,00", timeout_seconds=20)
    await stack.quiet()
    assert len(await heard(stack)) == len(texts) + 1
    last = (await stack.claude.journal())[-1]["user_text"]
    assert all(text in last for text in ("oi?", "tem alguém aí?", BALANCE))


async def test_a_pause_ends_by_itself(stack: Stack) -> None:
    """After its hours the message that waited is answered, without an operator."""
    await paused(stack, hours=2)
    await stack.whatsapp.send_text("maria", BALANCE)
    await settled(stack, 1)
    await skip(stack, timedelta(hours=2).total_seconds() - 30)
    await asyncio.sleep(2)
    assert await waiting(stack) == [BALANCE]
    await skip(stack, 31)
    await stack.whatsapp.wait_message("maria", contains="1.000,00", timeout_seconds=20)
    await stack.quiet()


async def test_a_person_asks_for_a_human(
    databases: Databases, temporal_env: WorkflowEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`falar com um atendente`: no click, one text by template, one call of the model and none
    after it; operators are alerted once and see who waits; an account that lets nothing run
    directly is asked nothing either. Resumed, the agent answers what came meanwhile."""
    monkeypatch.setattr(alerts, "LOOK_EVERY_S", 0.2)
    async with (
        receiving() as receiver,
        running_stack(databases, temporal_env, alert_url=receiver.url) as stack,
    ):
        assert await ask(stack, HUMAN) == TEXTS.human_coming()
        await stack.quiet()
        action = await stack.latest_action()
        assert (action["status"], action["confirm"]) == ("executed", "direct")
        calls = await model_calls(stack)
        assert calls == 1
        await stack.whatsapp.send_text("maria", BALANCE)
        await settled(stack, 1)
        code, said = await aval(stack, "conversations", "list", "--paused")
        assert code == 0
        assert "the person asked" in said
        assert "…0001" in said
        assert (await model_calls(stack), await heard(stack)) == (1, [TEXTS.human_coming()])
        for _ in range(100):
            if receiver.got:
                break
            await asyncio.sleep(0.05)
        assert [(one["kind"], one["action_id"]) for one in receiver.got] == [
            ("human_wanted", action["id"])
        ]
        await resume(stack)
        await stack.whatsapp.wait_message("maria", contains="1.000,00", timeout_seconds=20)
        await stack.quiet()
        assert len(receiver.got) == 1
        code, said = await aval(stack, "conversations", "list", "--paused")
        assert "the person asked" not in said


async def test_two_people_may_ask_at_once(stack: Stack) -> None:
    """Each gets his own pause: the one is no repeat of the other."""
    await asyncio.gather(ask(stack, HUMAN), ask(stack, HUMAN, person="carlos"))
    await stack.quiet()
    assert await stack.pool.fetchval("SELECT count(*) FROM pauses WHERE cause = 'person'") == 2


async def test_a_humans_reply_from_another_device_pauses(stack: Stack) -> None:
    """An echo: no turn, no call, no answer; the person's next message waits. Delivered again it
    changes nothing. Resumed, the model reads the human's words between the person's, as the
    team's."""
    assert "1.000,00" in await ask(stack, BALANCE)
    await stack.quiet()
    calls = await model_calls(stack)
    wamid = await write_as_team(stack, "Oi, aqui é a Rita, já vejo isso.")
    await write_as_team(stack, "Oi, aqui é a Rita, já vejo isso.", wamid=wamid)
    await stack.whatsapp.send_text("maria", "obrigada")
    await settled(stack, 1)
    assert await stack.pool.fetchval("SELECT count(*) FROM pauses") == 1
    assert await model_calls(stack) == calls
    await resume(stack)
    await stack.whatsapp.wait_message("maria", contains="De nada", timeout_seconds=20)
    await stack.quiet()
    told = await said_to_model(stack)
    assert "<mensagem_da_equipe" in told
    assert told.index(BALANCE) < told.index("aqui é a Rita") < told.index("obrigada")
    assert told.count("aqui é a Rita") == 1


async def test_what_is_no_humans_reply_does_not_pause(stack: Stack) -> None:
    """Our own message that comes back, one of yesterday, one to somebody else, one into a group:
    the person is answered at once."""
    await ask(stack, "bom dia")
    await stack.quiet()
    ours = (await stack.whatsapp.messages("maria", author="business"))[-1].wamid
    await write_as_team(stack, "bom dia", wamid=ours)
    await write_as_team(stack, "até amanhã", ago=13 * 3600)
    await write_as_team(stack, "oi", to="+5511988880002")
    await write_as_team(stack, "oi grupo", group_id="g1")
    assert "1.000,00" in await ask(stack, BALANCE)


async def test_a_human_who_writes_first_has_the_conversation(stack: Stack) -> None:
    """To somebody who never wrote: his answer waits for the human."""
    await write_as_team(stack, "Olá, Carlos, aqui é a Rita", to="+5511988880002")
    await stack.whatsapp.send_text("carlos", "oi Rita")
    await settled(stack, 1)
    assert await model_calls(stack) == 0


async def test_a_number_dialled_without_the_ninth_digit_is_the_same_persons(stack: Stack) -> None:
    """The echo names what was dialled, which may differ from Meta's id by the ninth digit."""
    await ask(stack, "bom dia")
    await stack.quiet()
    await write_as_team(stack, "oi, aqui é a Rita", to="+551188880001")
    await stack.whatsapp.send_text("maria", BALANCE)
    await settled(stack, 1)


async def test_a_pending_action_is_decided_during_a_pause(stack: Stack) -> None:
    """Confirm twice while a human has the conversation: one effect, its feedback, no call of the
    model; a message beside it waits."""
    action = await propose(stack)
    await stack.quiet()
    calls = await model_calls(stack)
    await write_as_team(stack, "pode confirmar, Maria")
    await stack.whatsapp.send_text("maria", "obrigada")
    await settled(stack, 1)
    await stack.whatsapp.press("maria", "confirm", times=2)
    await stack.wait_status(action["id"], "executed")
    await stack.whatsapp.wait_message("maria", contains="br.gov.bcb.pix")
    assert await stack.charges() == 1
    assert await model_calls(stack) == calls
    assert await waiting(stack) == ["obrigada"]
    await resume(stack)
    await stack.whatsapp.wait_message("maria", contains="De nada", timeout_seconds=20)
    await stack.quiet()
    assert await stack.charges() == 1


async def test_a_pending_action_expires_during_a_pause(stack: Stack) -> None:
    """The deadline is not moved by a pause."""
    action = await propose(stack)
    await stack.quiet()
    await write_as_team(stack, "já vejo")
    await stack.move_clock(action["id"], timedelta(minutes=10, seconds=2))
    await stack.wait_status(action["id"], "expired")
    assert await stack.charges() == 0


async def test_a_typed_yes_during_a_pause_is_none(stack: Stack) -> None:
    """ "sim" while an operator's pause lasts may answer what a human asked elsewhere: not then, and
    not when the agent reads on; the person is reminded of the buttons, which work."""
    action = await booking(stack)
    await stack.quiet()
    before = await bookings(stack)
    code, said = await aval(stack, "conversations", "pause", await conversation(stack), *BY)
    assert code == 0, said
    await stack.whatsapp.send_text("maria", "sim", timestamp=later())
    await settled(stack, 1)
    await resume(stack)
    await stack.whatsapp.wait_message("maria", contains=REMINDER, timeout_seconds=20)
    await stack.quiet()
    assert (await stack.action(action["id"]))["status"] == "pending"
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await bookings(stack) == before + 1


async def test_a_turn_under_way_when_the_human_comes_waits_for_him(stack: Stack) -> None:
    """The human writes while the model is being asked, and no answer comes of it: the turn stays
    open and nothing is said, no template either. Resumed, the model is asked anew, with the human's
    words, and the person is answered once. (An answer that came in time: test_pauses.py.)"""
    await stack.claude.fault("timeout", seconds=2.5, contains="saldo")
    await stack.whatsapp.send_text("maria", BALANCE)
    for _ in range(200):
        if await model_calls(stack):
            break
        await asyncio.sleep(0.02)
    await write_as_team(stack, "Oi Maria, aqui é a Rita")
    await settled(stack, 1)
    calls = await model_calls(stack)
    await asyncio.sleep(3)
    assert (await heard(stack), await model_calls(stack)) == ([], calls)
    await resume(stack)
    await stack.whatsapp.wait_message("maria", contains="1.000,00", timeout_seconds=20)
    await stack.quiet()
    assert len(await heard(stack)) == 1
    assert "aqui é a Rita" in await said_to_model(stack)


async def test_a_pause_is_no_fault_for_the_doctor(stack: Stack) -> None:
    """What waits for a human is not what nobody handled; after the pause it would be."""
    await paused(stack)
    await stack.whatsapp.send_text("maria", BALANCE)
    await settled(stack, 1)
    await skip(stack, 3600)
    async with stack.pool.acquire() as connection:
        since = await connection.fetchval("SELECT now() - interval '1 day'")
        assert await checking.findings(connection, since=since) == []


async def test_operators_hear_what_is_wrong(stack: Stack) -> None:
    """Nobody to resume, an unknown id, hours out of bounds: one line and exit code 2."""
    await ask(stack, "bom dia")
    found = await conversation(stack)
    for argv, why in (
        (("resume", found, *BY), "is not paused"),
        (("pause", "0000dead", *BY), "there is no conversation"),
        (("pause", found, "--hours", "169", *BY), "whole number of hours"),
        (("pause", found), "--operator"),
    ):
        code, said = await aval(stack, "conversations", *argv)
        assert (code, why in said) == (2, True), said
