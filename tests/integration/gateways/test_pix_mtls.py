"""The client certificate over real TLS, with certificates that were made for this test."""

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn

from domain.outcomes import Outcome, Presence
from gateways.pix_bcb import PixBcbGateway
from gateways.pix_bcb_profiles import EFI
from gateways.pix_bcb_tls import client_context
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorConfig, create_app
from tests.integration.gateways.conftest import API_KEY
from tests.integration.gateways.pix_kit import (
    PIX_KEY,
    TO_PIX_KEY,
    charge_request,
    new_key,
    send,
)


@dataclass(frozen=True)
class Papers:
    """PEM files: a certificate that is its own authority, its key, and the key under a
    passphrase."""

    certificate: Path
    key: Path
    locked_key: Path


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    """Made by the openssl program; skipped without it, but not in CI."""
    openssl = shutil.which("openssl")
    if openssl is None:
        reason = "the openssl program is not installed"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("papers")
    made = Papers(folder / "certificate.pem", folder / "key.pem", folder / "locked.pem")
    new = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bank -keyout {made.key}"
    san = "subjectAltName=IP:127.0.0.1"
    for command in (
        [*new.split(), "-out", str(made.certificate), "-addext", san],
        f"rsa -aes128 -passout pass:word -in {made.key} -out {made.locked_key}".split(),
    ):
        subprocess.run(  # noqa: S603 - our own words, found by shutil.which
            [openssl, *command], check=True, capture_output=True, timeout=30
        )
    return made


@pytest.fixture
async def bank(papers: Papers) -> AsyncIterator[str]:
    """The simulator over TLS 1.3; whoever shows no certificate is turned away."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        create_app(PaymentsSimulatorConfig(api_key=API_KEY)),
        log_level="critical",
        ws="none",
        ssl_certfile=papers.certificate,
        ssl_keyfile=str(papers.key),
        ssl_ca_certs=str(papers.certificate),
        ssl_cert_reqs=ssl.CERT_REQUIRED,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await serving


def gateway_at(url: str, tls: ssl.SSLContext) -> PixBcbGateway:
    return PixBcbGateway(
        profile=EFI,
        mode="live",
        client_id="Client_Id_1",
        client_secret=API_KEY,
        pix_key=PIX_KEY,
        to_pix_key=TO_PIX_KEY,
        base_url=url,
        tls=tls,
        timeouts=Timeouts(connect=2.0, read=2.0, total=4.0),
    )


async def test_with_its_certificate_the_gateway_charges(bank: str, papers: Papers) -> None:
    """Token, charge and look-up go over mTLS; the bank's certificate is checked too."""
    tls = client_context(str(papers.certificate), str(papers.key))
    tls.load_verify_locations(papers.certificate)
    gateway = gateway_at(bank, tls)
    key = new_key()
    request = charge_request(gateway, key)
    assert (await send(gateway, key, request)).outcome is Outcome.CREATED
    assert (await gateway.lookup(key, request)).equal


async def test_without_its_certificate_nothing_is_sent(bank: str, papers: Papers) -> None:
    """Under TLS 1.3 the refusal comes after the request went, which would be an unknown; the token
    meets it first, before any money is at stake."""
    tls = ssl.create_default_context(cafile=papers.certificate)
    tls.minimum_version = ssl.TLSVersion.TLSv1_3
    gateway = gateway_at(bank, tls)
    key = new_key()
    request = charge_request(gateway, key)
    result = await send(gateway, key, request)
    assert (result.outcome, "no access token" in str(result.reason)) == (Outcome.NOT_SENT, True)
    assert "no complete answer" in str(result.reason)
    assert (await gateway.lookup(key, request)).presence is Presence.UNCERTAIN


async def test_a_bank_that_cannot_prove_itself_gets_neither_secret_nor_request(
    bank: str, papers: Papers
) -> None:
    """A server whose certificate nobody vouches for: no connection, nothing sent."""
    gateway = gateway_at(bank, client_context(str(papers.certificate), str(papers.key)))
    key = new_key()
    result = await send(gateway, key, charge_request(gateway, key))
    assert (result.outcome, "(ConnectError)" in str(result.reason)) == (Outcome.NOT_SENT, True)


def test_papers_that_cannot_be_used_stop_the_start(papers: Papers, tmp_path: Path) -> None:
    """A missing file, a key that is none, a key under a passphrase; without what they hold."""
    (tmp_path / "empty.pem").write_text("")
    for certificate, key in (
        (tmp_path / "none.pem", None),
        (tmp_path / "empty.pem", None),
        (papers.certificate, tmp_path / "empty.pem"),
        (papers.certificate, papers.locked_key),
        (papers.certificate, None),
    ):
        with pytest.raises(ValueError, match="cannot be used") as error:
            client_context(str(certificate), None if key is None else str(key))
        assert "BEGIN" not in str(error.value)
