"""A person who is a member of two accounts on one business number: the system asks for which, reads
exact answers alone, and every summary names the account."""

from typing import Any

from domain.people import Person, Role
from domain.texts import texts_for
from store import accounts
from tests.acceptance.operator import aval
from tests.harness.scenes import PIX, ask, heard, model_calls, prompts, propose
from tests.harness.stack import NUMBER, Stack

TEXTS = texts_for("pt-BR")
STUDIO, SHOP = "Estúdio Ipanema", "Loja Norte"
QUESTION = TEXTS.which_account([STUDIO, SHOP])
BALANCE = "qual é o meu saldo?"


async def shop(stack: Stack, *, user_id: str = "BR.1000000000000001") -> None:
    """A second account with a customer, a wallet of its own and a gateway, whose members may work
    through the demo's number; the person is its owner."""
    async with stack.pool.acquire() as connection:
        demo = await connection.fetchrow("SELECT gateway, gateway_config FROM accounts")
        assert demo is not None
        await accounts.add_account(
            connection,
            account="loja",
            name=SHOP,
            time_zone="America/Manaus",
            language="pt-BR",
            prompt_file=None,
            gateway=demo["gateway"],
            gateway_config=demo["gateway_config"],
            settings={},
        )
        await accounts.share_number(connection, account="loja", phone_number_id=NUMBER)
        await accounts.add_member(
            connection,
            account="loja",
            name="Maria",
            role=Role.OWNER,
            person=Person(user_id=user_id),
        )
        await accounts.add_customer(
            connection,
            account="loja",
            name="João Silva",
            document="52912345634",
            email=None,
            person=None,
        )
        await connection.execute(
            "INSERT INTO wallets (account_id, available_cents) VALUES ('loja', 7)"
        )


async def answer(stack: Stack, text: str) -> None:
    """A word that leads to a proposal."""
    before = len(await prompts(stack, "maria"))
    await stack.whatsapp.send_text("maria", text)
    await stack.whatsapp.wait_messages(
        "maria", type="interactive", count=before + 1, timeout_seconds=20
    )


async def accounts_of(stack: Stack) -> list[str]:
    """For which account each action was, in order."""
    rows = await stack.pool.fetch("SELECT account_id FROM actions ORDER BY created_at")
    return [row["account_id"] for row in rows]


async def test_a_member_of_two_accounts_is_asked_and_the_summary_names_it(stack: Stack) -> None:
    """Asked before any model is called; the request waits and is proposed after the answer, with
    the account as the summary's last line; confirmed, the effect is that account's alone."""
    await shop(stack)
    assert await ask(stack, PIX) == QUESTION
    assert await model_calls(stack) == 0
    await answer(stack, "2")
    action = await stack.latest_action()
    assert f"\n{TEXTS.account_line(SHOP)}\n" in action["summary"]
    assert (await prompts(stack, "maria"))[0].text == action["summary"]
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert await stack.charges() == 1
    rows = await stack.pool.fetch("SELECT account_id FROM charges")
    assert [row["account_id"] for row in rows] == ["loja"]
    system: list[dict[str, Any]] = (await stack.claude.journal())[0]["system"]
    assert SHOP in system[0]["text"]
    assert "2" not in [entry["user_text"] for entry in await stack.claude.journal()]


async def test_the_choice_holds_and_can_be_changed(stack: Stack) -> None:
    """Not asked again; by the exact words he is asked anew, the answer may be the name, and what
    was pending stays what it was."""
    await shop(stack)
    await ask(stack, PIX)
    await answer(stack, "Loja norte.")
    assert await ask(stack, BALANCE) != QUESTION
    assert await ask(stack, "Trocar de conta!") == QUESTION
    assert await ask(stack, "estudio ipanema") == TEXTS.account_chosen(STUDIO)
    assert "1.000,00" in await ask(stack, BALANCE)
    first = await stack.latest_action()
    assert first["status"] == "pending"
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(first["id"], "executed")
    second = await propose(stack)
    assert TEXTS.account_line(STUDIO) in second["summary"]
    await stack.quiet()
    assert await accounts_of(stack) == ["loja", "demo"]


async def test_what_is_no_answer_is_asked_about_again(stack: Stack) -> None:
    """Another number, a word, a forwarded answer: the question again for each, no model, and all
    of it is read once he has chosen. A number before the question is none either."""
    await shop(stack)
    await stack.whatsapp.send_text("maria", "2")
    await stack.whatsapp.wait_messages("maria", contains=SHOP, count=1, timeout_seconds=20)
    for n, word in enumerate(("3", "a do norte", "0", BALANCE), start=2):
        await stack.whatsapp.send_text("maria", word)
        await stack.whatsapp.wait_messages("maria", contains=SHOP, count=n, timeout_seconds=20)
    await stack.whatsapp.send_text("maria", "1", forwarded=True)
    await stack.whatsapp.wait_messages("maria", contains=SHOP, count=6, timeout_seconds=20)
    assert await model_calls(stack) == 0
    assert set(await heard(stack)) == {QUESTION}
    assert "1.000,00" in await ask(stack, "1")
    read = (await stack.claude.journal())[0]["user_text"]
    assert all(f"\n{word}\n" in read for word in ("2", "3", "a do norte", "0", BALANCE))
    await stack.quiet()


async def test_a_member_of_one_of_them_is_not_asked(stack: Stack) -> None:
    """Of the further account alone: it is his; the summary names it all the same. A public person
    is with the number's own account, and reads no account's name."""
    await shop(stack, user_id="BR.1000000000000002")
    action = await propose(stack, person="carlos")
    assert (action["account_id"], TEXTS.account_line(SHOP) in action["summary"]) == ("loja", True)
    book = (
        '/tool create_booking {"customer":"Ana Prado","professional":"Bruno Reis",'
        '"starts_at":"2099-03-11T14:00:00-03:00"}'
    )
    action = await propose(stack, book, person="ana")
    assert action["account_id"] == "demo"
    assert "Conta:" not in action["summary"]


async def test_a_number_that_is_not_shared_knows_one_account(stack: Stack) -> None:
    """A member of another account on this number is no member here: the role is the account's."""
    await shop(stack, user_id="BR.1000000000000002")
    await stack.pool.execute("DELETE FROM shared_numbers")
    await ask(
        stack, '/tool create_pix_charge {"customer":"João","amount_cents":1}', person="carlos"
    )
    assert "create_pix_charge" not in (await stack.claude.journal())[-1]["tools"]
    assert await accounts_of(stack) == []


async def test_a_choice_ends_with_the_membership(stack: Stack) -> None:
    """Dismissed from the account that he chose: the open prompt no longer executes, and he works
    for the account that is left, without being asked."""
    await shop(stack)
    await ask(stack, PIX)
    await answer(stack, "2")
    action = await stack.latest_action()
    await stack.pool.execute("UPDATE members SET active = false WHERE account_id = 'loja'")
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "failed")
    await stack.quiet()
    assert "1.000,00" in await ask(stack, BALANCE)
    await stack.quiet()
    assert await stack.charges() == 0


async def test_operators_share_numbers(stack: Stack) -> None:
    """A number is shared; not with its own account, nor an unknown one, nor with an account whose
    name would not fit every summary."""
    long = "Uma loja com um nome que não cabe em nenhum resumo de mensagem"
    code, said = await aval(
        stack, "accounts", "add", "longa", "--name", long, "--time-zone", "America/Manaus"
    )
    assert code == 0, said
    code, said = await aval(
        stack, "accounts", "add", "loja", "--name", SHOP, "--time-zone", "America/Manaus"
    )
    assert code == 0, said
    code, said = await aval(stack, "numbers", "share", "loja", NUMBER)
    assert (code, "summaries name it" in said) == (0, True), said
    assert f"{NUMBER} (members)" in (await aval(stack, "accounts", "list"))[1]
    for argv, why in (
        (("demo", NUMBER), "own"),
        (("longa", "99"), "there is no number"),
        (("longa", NUMBER), "more than 50 characters"),
    ):
        code, said = await aval(stack, "numbers", "share", *argv)
        assert (code, why in said) == (2, True), said
