"""What operators type, against a real database."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from cli.main import main
from domain.texts import LANGUAGES
from tests.harness.databases import Databases
from tests.harness.scenes import propose
from tests.harness.stack import Stack

Aval = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest_asyncio.fixture(loop_scope="session")
async def database(databases: Databases) -> AsyncIterator[str]:
    """A migrated, empty database."""
    dsn = await databases.fresh()
    yield dsn
    await databases.drop(dsn)


@pytest.fixture
def aval(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Aval:
    """Run a command against a database: exit code, stdout, stderr. Temporal is out of reach."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")

    async def run(dsn: str, *argv: str) -> tuple[int, str, str]:
        monkeypatch.setenv("AVAL_DATABASE_URL", dsn)
        capsys.readouterr()
        code = await asyncio.to_thread(main, argv)
        out, err = capsys.readouterr()
        return code, out, err

    return run


async def test_an_account_is_made_with_all_that_belongs_to_it(database: str, aval: Aval) -> None:
    """From nothing to an account with number, member and customer; each list shows it."""
    for argv in (
        ("accounts", "add", "loja", "--name", "Loja Um", "--time-zone", "America/Sao_Paulo"),
        ("numbers", "add", "loja", "123456"),
        ("members", "add", "loja", "Ana Dias", "--role", "owner", "--phone", "+55 11 98888-7777"),
        ("customers", "add", "loja", "Zé", "--document", "529.982.247-25", "--user-id", "BR.77"),
    ):
        code, _, err = await aval(database, *argv)
        assert (code, err) == (0, "")
    assert re.search(
        r"loja +Loja Um +America/Sao_Paulo.* 123456", (await aval(database, "accounts", "list"))[1]
    )
    members = (await aval(database, "members", "list", "loja"))[1]
    assert re.search(r"Ana Dias +owner +phone …7777", members)
    customers = (await aval(database, "customers", "list", "loja"))[1]
    assert "52998224725" not in customers
    assert re.search(r"Zé +\*\*\*\.982\.247-\*\*", customers)


async def test_an_account_speaks_any_language_that_has_texts_and_no_other(
    database: str, aval: Aval
) -> None:
    """Portuguese unless it is said; each language that somebody wrote; another is exit 2."""
    account = ("--name", "x", "--time-zone", "UTC")
    assert (await aval(database, "accounts", "add", "usual", *account))[0] == 0
    for language in LANGUAGES:
        argv = ("accounts", "add", f"in-{language.lower()}", *account, "--language", language)
        assert (await aval(database, *argv))[0] == 0
    listed = (await aval(database, "accounts", "list"))[1]
    assert re.search(r"usual +x +UTC +pt-BR ", listed)
    assert all(re.search(rf"in-\S+ +x +UTC +{language} ", listed) for language in LANGUAGES)
    code, _, err = await aval(database, "accounts", "add", "no", *account, "--language", "fr")
    assert code == 2
    assert "'fr'" in err


async def test_what_exists_already_is_refused_in_one_line(database: str, aval: Aval) -> None:
    """Twice the same account, number of another, phone of a member: exit 2, nothing changed."""
    account = ("--name", "x", "--time-zone", "UTC")
    await aval(database, "accounts", "add", "um", *account)
    await aval(database, "accounts", "add", "dois", *account)
    await aval(database, "numbers", "add", "um", "1")
    member = ("members", "add", "um", "Ana", "--role", "staff", "--phone", "+5511988887777")
    await aval(database, *member)
    for argv, words in (
        (("accounts", "add", "um", *account), "'um' exists already"),
        (("numbers", "add", "dois", "1"), "belongs to account 'um'"),
        (member, "active member with this phone"),
        (("members", "list", "tres"), "no account 'tres'"),
        (("members", "remove", "dois", "1"), "no active member 1"),
        (("actions", "show", "abcd"), "no action 'abcd'"),
    ):
        code, out, err = await aval(database, *argv)
        assert (code, out, err.count("\n")) == (2, "", 1), argv
        assert words in err


async def test_a_removed_member_may_be_registered_again(database: str, aval: Aval) -> None:
    """The old row stays, since actions tell of it."""
    await aval(database, "accounts", "add", "um", "--name", "x", "--time-zone", "UTC")
    add = ("members", "add", "um", "Ana", "--role", "staff", "--phone", "+5511988887777")
    await aval(database, *add)
    assert (await aval(database, "members", "remove", "um", "1"))[0] == 0
    assert (await aval(database, *add))[0] == 0
    connection = await asyncpg.connect(database)
    assert await connection.fetchval("SELECT count(*) FROM members") == 2
    await connection.close()


async def test_a_key_never_goes_into_the_database(database: str, aval: Aval) -> None:
    """A gateway's secret is a name; the value itself is refused, and not echoed."""
    add = ("accounts", "add", "um", "--name", "x", "--time-zone", "UTC", "--gateway", "pagarme")
    code, _, err = await aval(
        database, *add, "--gateway-secret", "sk_live_1", "--recipient", "re_1"
    )
    assert code == 2
    assert "sk_live_1" not in err
    named = ("--gateway-secret", "AVAL_PAGARME_API_KEY", "--recipient", "re_1")
    assert (await aval(database, *add, *named))[0] == 0


async def test_the_mode_of_a_gateway_is_said_where_it_is_asked_for(
    database: str, aval: Aval
) -> None:
    """Sandbox or live is nobody's guess: Stripe needs it, Pagar.me has none, and it is kept."""
    add = ("accounts", "add", "um", "--name", "x", "--time-zone", "UTC")
    named = ("--gateway-secret", "AVAL_STRIPE_API_KEY", "--recipient", "ba_1")
    for gateway, mode in (("stripe", ()), ("pagarme", ("--gateway-mode", "live"))):
        code, _, err = await aval(database, *add, "--gateway", gateway, *mode, *named)
        assert (code, err.count("\n")) == (2, 1)
        assert "--gateway-mode" in err
    chosen = ("--gateway", "stripe", "--gateway-mode", "sandbox")
    assert (await aval(database, *add, *chosen, *named))[0] == 0
    connection = await asyncpg.connect(database)
    kept = await connection.fetchval("SELECT gateway_config::text FROM accounts")
    await connection.close()
    assert json.loads(kept) == {
        "api_key": {"secret": "AVAL_STRIPE_API_KEY"},
        "recipient_id": "ba_1",
        "mode": "sandbox",
    }


async def test_setup_may_be_repeated_and_refuses_another_deployment(
    databases: Databases, aval: Aval, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run changes nothing; a database of another deployment is refused."""
    dsn = await databases.fresh()
    monkeypatch.setenv("AVAL_DEPLOYMENT", "one")
    assert (await aval(dsn, "setup"))[0] == 0
    code, out, _ = await aval(dsn, "setup")
    assert code == 0
    assert "none, all were there" in out
    monkeypatch.setenv("AVAL_DEPLOYMENT", "two")
    code, _, err = await aval(dsn, "setup")
    assert code == 2
    assert "belongs to deployment 'one'" in err
    await databases.drop(dsn)


async def test_a_database_out_of_reach_is_one_line(aval: Aval) -> None:
    """No traceback, no password."""
    code, out, err = await aval("postgresql://u:secret-word@127.0.0.1:1/x", "actions", "list")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "cannot be reached" in err
    assert "secret-word" not in err


async def test_list_and_show_tell_what_happened_with_temporal_down(
    stack: Stack, aval: Aval
) -> None:
    """An executed action: who decided, the one send and the provider's answer, a sound chain."""
    dsn = stack.settings.database_url.get_secret_value()
    action = await propose(stack)
    await stack.whatsapp.press("carlos", button_id=f"pa:confirm:{action['id']}")
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()

    code, out, _ = await aval(dsn, "actions", "list", "--status", "executed", "--person", "0001")
    assert code == 0
    assert re.search(rf"{action['id'][:12]} .*-0300 +demo +create_pix_charge +executed", out)
    found = await aval(dsn, "actions", "list", "--amount", "150.00", "--until", "2099-01-01")
    assert action["id"][:12] in found[1]
    for nothing in (
        ("--older-than", "1h"),
        ("--tool", "x"),
        ("--account", "x"),
        ("--status", "failed"),
        ("--amount", "150.01"),
        ("--until", "1h"),
    ):
        assert (await aval(dsn, "actions", "list", *nothing))[1].count("\n") == 1

    code, out, _ = await aval(dsn, "actions", "show", action["id"][:8].upper())
    assert code == 0
    assert re.search(r"Valor: R\$ 150,00 +\|", out)
    assert "amount_cents: 15000" in out
    assert re.search(r"confirm +button +Maria Souza, owner …0001 +followed", out)
    assert re.search(r"not a member, public …0002 +refused: wrong_person", out)
    assert re.search(r"1 +1 .* created +ch_", out)
    assert re.search(r"prompt +prompt +accepted +1 +(delivered|read)", out)
    assert "chain: verifies" in out
    assert "digest: verifies" in out
    assert "5511988880001" not in out


async def test_json_is_in_utc_and_names_nobody(stack: Stack, aval: Aval) -> None:
    """Machines get the same facts, with times that need no zone and without anybody's number."""
    dsn = stack.settings.database_url.get_secret_value()
    action = await propose(stack)
    (listed,) = json.loads((await aval(dsn, "actions", "list", "--json", "--since", "1h"))[1])
    assert listed["status"] == "pending"
    assert datetime.fromisoformat(listed["created_at"]) == action["created_at"]
    assert listed["created_at"].endswith("+00:00")
    text = (await aval(dsn, "actions", "show", action["id"], "--json"))[1]
    shown = json.loads(text)
    assert shown["payload"]["amount_cents"] == 15000
    assert (shown["decisions"], shown["sends"]) == ([], [])
    assert "5511988880001" not in text
    assert "BR.1000000000000001" not in text


async def test_tampered_evidence_is_told_and_fails(stack: Stack, aval: Aval) -> None:
    """A changed link breaks the chain, a changed column the digest; the exit code says so."""
    dsn = stack.settings.database_url.get_secret_value()
    action = await propose(stack)
    await stack.pool.execute(
        "ALTER TABLE audit_events DISABLE TRIGGER USER; ALTER TABLE actions DISABLE TRIGGER USER"
    )
    await stack.pool.execute("UPDATE audit_events SET detail = '{}' WHERE n = 1")
    code, out, _ = await aval(dsn, "actions", "show", action["id"])
    assert code == 1
    assert "chain: BROKEN at 1" in out
    assert "digest: verifies" in out
    await stack.pool.execute(
        "UPDATE actions SET payload = jsonb_set(payload, '{amount_cents}', '1')"
    )
    assert "digest: DOES NOT MATCH" in (await aval(dsn, "actions", "show", action["id"]))[1]
