"""For which of three accounts: memberships and the order of names may move at any moment, and no
answer may come to mean another account than the one that was read."""

from activities.messages import ConversationRef, Taken
from activities.take import Take
from domain.people import Person, Role
from domain.texts import texts_for
from store import accounts
from tests.integration.store.kit import MARIA, NUMBER, World

TEXTS = texts_for("pt-BR")


async def join(world: World, account: str, name: str) -> None:
    """A further account on the number, and Maria a member of it."""
    async with world.pool.acquire() as connection:
        await accounts.add_account(
            connection,
            account=account,
            name=name,
            time_zone="America/Sao_Paulo",
            language="pt-BR",
            prompt_file=None,
            gateway=None,
            gateway_config={},
            settings={},
        )
        await accounts.share_number(connection, account=account, phone_number_id=NUMBER)
        await accounts.add_member(
            connection,
            account=account,
            name="Maria",
            role=Role.STAFF,
            person=Person(user_id=MARIA.user_id),
        )


async def leave(world: World, account: str) -> None:
    """Maria is dismissed."""
    await world.pool.execute("UPDATE members SET active = false WHERE account_id = $1", account)


async def say(world: World, text: str) -> str | None:
    """Maria writes; the account of the turn that this makes, None for none."""
    conversation = await world.conversation(text=text)
    taken: Taken = await Take(world.deps).run(ConversationRef(conversation_id=conversation))
    if taken.turn_id is None:
        return None
    await world.close(taken.turn_id, "reply")
    found: str = await world.pool.fetchval(
        "SELECT account_id FROM turns WHERE id = $1", taken.turn_id
    )
    return found


async def questions(world: World) -> list[str]:
    """What she was asked, in order."""
    rows = await world.pool.fetch(
        "SELECT message FROM outbox WHERE key LIKE '%:which:%' ORDER BY seq"
    )
    return [row["message"]["text"] for row in rows]


async def test_an_answer_means_what_stood_there(world: World) -> None:
    """Between question and answer an account with an earlier name is added: the number still means
    the account that it stood before."""
    await join(world, "norte", "Norte")
    await say(world, "oi")
    assert await questions(world) == [TEXTS.which_account(["Estúdio Ipanema", "Norte"])]
    await join(world, "alfa", "Alfa")
    assert await say(world, "2") == "norte"


async def test_an_answer_for_an_account_that_was_left_is_none(world: World) -> None:
    """Dismissed there between question and answer, and two are left: asked anew."""
    await join(world, "norte", "Norte")
    await join(world, "sul", "Sul")
    await say(world, "oi")
    await leave(world, "norte")
    assert await say(world, "2") is None
    assert (await questions(world))[-1] == TEXTS.which_account(["Estúdio Ipanema", "Sul"])
    assert await say(world, "2") == "sul"


async def test_a_choice_does_not_outlive_its_membership(world: World) -> None:
    """Chosen, then dismissed, and two are left: asked anew; nothing runs for the account."""
    await join(world, "norte", "Norte")
    await join(world, "sul", "Sul")
    await say(world, "oi")
    assert await say(world, "Norte") == "norte"
    await leave(world, "norte")
    assert await say(world, "oi de novo") is None
    assert len(await questions(world)) == 2


async def test_an_open_turn_keeps_its_account(world: World) -> None:
    """Taken for one account, it stays that one's, whatever is chosen and dismissed meanwhile; the
    wish to change waits for the next turn."""
    for name in ("Norte", "Sul"):
        await join(world, name.lower(), name)
    await say(world, "oi")
    conversation = await world.conversation(text="2")
    ref = ConversationRef(conversation_id=conversation)
    first = await Take(world.deps).run(ref)
    await world.conversation(text="trocar de conta")
    await leave(world, "norte")
    assert (await Take(world.deps).run(ref)).turn_id == first.turn_id
    rows = await world.pool.fetch("SELECT account_id FROM turns")
    assert [row["account_id"] for row in rows] == ["norte"]
    assert len(await questions(world)) == 1


async def test_a_question_is_asked_once_for_a_message(world: World) -> None:
    """*take* may run twice: one question; the message waits and nobody rings for it but the
    answer."""
    await join(world, "norte", "Norte")
    conversation = await world.conversation(text="oi")
    for _ in range(3):
        taken = await Take(world.deps).run(ConversationRef(conversation_id=conversation))
        assert (taken.turn_id, taken.unsent) == (None, True)
    assert len(await questions(world)) == 1
    rows = await world.pool.fetch("SELECT ring_at, done_at FROM inbox")
    assert [tuple(row) for row in rows] == [(None, None)]
