"""`aval up`, Ctrl-C while an action is pending, `aval up`: the old prompt can still be pressed."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from cli.stack.ports import HOST, SETTINGS, Ports
from simulators.payments.client import PaymentsSimulatorClient
from simulators.whatsapp.client import WhatsAppSimulatorClient
from tests.acceptance.commands import interrupt, open_folder, said, start, wait_for

UP = "Aval is up"
STOPPED = ("API", "Worker", "Temporal", "PostgreSQL")


@pytest.mark.slow
async def test_a_pending_action_survives_a_stop_of_everything() -> None:
    """Proposed, everything stopped with exit 0, everything started: the click makes one charge."""
    with open_folder() as folder:
        ports = asdict(Ports.free())
        environment = {name: str(ports[part]) for part, (name, _) in SETTINGS.items()}
        process = start(folder, "up", environment=environment)
        try:
            await asyncio.to_thread(wait_for, process, folder, UP, seconds=60)
            async with _phone(folder, ports) as phone:
                await phone.send_text("maria", "gera um Pix de 150 reais pro João Silva")
                prompt = await phone.wait_prompt("maria", timeout_seconds=30)
            assert await asyncio.to_thread(interrupt, process) == 0
            for part in STOPPED:
                assert f"stopped {part}" in said(folder)
            assert "Traceback" not in said(folder)

            process = start(folder, "up", environment=environment)
            await asyncio.to_thread(wait_for, process, folder, UP, seconds=60)
            async with _phone(folder, ports) as phone:
                await phone.press("maria", "confirm", prompt=prompt.wamid)
                await phone.wait_message("maria", contains="br.gov.bcb.pix", timeout_seconds=30)
            async with _provider(folder, ports) as provider:
                assert (await provider.counters())["effects_total"] == 1
            assert await asyncio.to_thread(interrupt, process) == 0
        finally:
            process.kill()


def _secrets(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / ".data" / "secrets.json").read_text("utf-8"))
    return found


def _phone(folder: Path, ports: dict[str, int]) -> WhatsAppSimulatorClient:
    url = f"http://{HOST}:{ports['whatsapp']}"
    return WhatsAppSimulatorClient(url, _secrets(folder)["page_key"])


def _provider(folder: Path, ports: dict[str, int]) -> PaymentsSimulatorClient:
    url = f"http://{HOST}:{ports['payments']}"
    return PaymentsSimulatorClient(url, admin_secret=_secrets(folder)["payments_admin"])
