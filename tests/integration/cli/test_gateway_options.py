"""What one gateway asks for and no other is given by name, and never a secret."""

import asyncio
import json
from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio

from cli.main import main
from tests.harness.databases import Databases

ADD = ("accounts", "add", "um", "--name", "x", "--time-zone", "UTC")
PIX = (
    *("--gateway", "pix_bcb", "--gateway-mode", "sandbox"),
    *("--gateway-secret", "AVAL_EFI_CLIENT_SECRET", "--recipient", "+5541999990000"),
)


@pytest_asyncio.fixture(loop_scope="session")
async def database(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """A migrated, empty database, which the command line uses."""
    dsn = await databases.fresh()
    monkeypatch.setenv("AVAL_DATABASE_URL", dsn)
    yield dsn
    await databases.drop(dsn)


async def test_options_are_kept_with_the_account(database: str) -> None:
    """The client's id, the Pix key and the certificate's path; the secret by its name alone."""
    options = ("client_id=Client_Id_1", "pix_key=loja@banco.example", "certificate=/run/efi.pem")
    given = [word for one in options for word in ("--gateway-option", one)]
    assert await asyncio.to_thread(main, (*ADD, *PIX, *given)) == 0
    connection = await asyncpg.connect(database)
    kept = await connection.fetchval("SELECT gateway_config::text FROM accounts")
    await connection.close()
    assert json.loads(kept) == {
        "api_key": {"secret": "AVAL_EFI_CLIENT_SECRET"},
        "recipient_id": "+5541999990000",
        "mode": "sandbox",
        "client_id": "Client_Id_1",
        "pix_key": "loja@banco.example",
        "certificate": "/run/efi.pem",
    }


@pytest.mark.parametrize(
    "options",
    [
        ("client_id",),
        ("client_id=",),
        ("hidden",),
        ("=hidden",),
        ("Client=hidden",),
        ("client_id=a", "client_id=hidden"),
        ("api_key=hidden",),
        ("mode=hidden",),
        ("base_url=hidden",),
        ("client_secret=hidden",),
        ("certificate_password=hidden",),
    ],
)
def test_what_is_no_option_is_refused_and_not_echoed(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    """One line that names the option; what stands behind it may be a secret and is not shown."""
    given = [word for one in options for word in ("--gateway-option", one)]
    code = main((*ADD, *PIX, *given))
    err = capsys.readouterr().err
    assert (code, err.count("\n")) == (2, 1)
    assert "--gateway-option" in err
    assert "hidden" not in err
