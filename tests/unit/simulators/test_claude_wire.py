"""The simulator over a real port: key, ids, counters, journal, streaming, back door."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anthropic
import httpx
import pytest

from simulators.claude import ClaudeSimulatorConfig
from simulators.claude.client import ClaudeSimulatorClient
from tests.unit.simulators.claude_kit import (
    KEY,
    NOW,
    SECRET,
    Far,
    assistant,
    body,
    result,
    running,
    use,
    user,
)

ASK = [user(f"{NOW}\ngera um Pix de 150 reais pro João")]


@pytest.fixture(scope="module")
async def far() -> AsyncIterator[Far]:
    """One simulator for this file."""
    async with running() as far:
        yield far


async def test_every_call_gets_new_ids(far: Far) -> None:
    """An identical prompt gets the same call under other message and tool_use ids."""
    first, second = await far.create(ASK), await far.create(ASK)
    assert first.content[0].input == second.content[0].input
    assert first.id != second.id
    assert first.content[0].id != second.content[0].id
    assert first._request_id
    assert first._request_id != second._request_id


async def test_the_answer_goes_back_as_history(far: Far) -> None:
    """What the SDK stores of an answer (`to_dict`) is accepted as input again."""
    answer = await far.create(ASK)
    block = answer.content[0]
    again = [*ASK, assistant(block.to_dict()), user(result(block.id, '{"status": "pending"}'))]
    assert (await far.create(again)).stop_reason == "end_turn"


async def test_a_broken_history_reaches_the_sdk_as_bad_request(far: Far) -> None:
    """The SDK sees status, type and request id of the 400."""
    with pytest.raises(anthropic.BadRequestError) as caught:
        await far.create([*ASK, assistant(use("toolu_a")), user("e aí?")])
    assert caught.value.type == "invalid_request_error"
    assert "`tool_use` ids were found" in str(caught.value)
    assert caught.value.request_id


async def test_wrong_or_missing_key_is_401(far: Far) -> None:
    """Only the configured key gets in, as Bearer or as x-api-key."""
    version = {"anthropic-version": "2026-10-21"}
    headers = [{"x-api-key": "no"}, {"authorization": "Bearer no"}, {}]
    async with httpx.AsyncClient(base_url=far.url) as http:
        for header in headers:
            answer = await http.post("/v1/messages", json=body(ASK), headers=header | version)
            assert answer.status_code == 401
            assert answer.json()["error"]["type"] == "authentication_error"
        good = await http.post("/v1/messages", json=body(ASK), headers={"x-api-key": KEY} | version)
        assert good.status_code == 200
        assert good.headers["request-id"].startswith("req_")
        unversioned = await http.post("/v1/messages", json=body(ASK), headers={"x-api-key": KEY})
        assert unversioned.status_code == 400
        garbled = await http.post(
            "/v1/messages", content=b"{", headers={"x-api-key": KEY} | version
        )
        assert garbled.status_code == 400


async def test_tokens_are_counted(far: Far) -> None:
    """count_tokens tells the size of the prompt without an answer."""
    counted = await far.sdk.messages.count_tokens(
        model="claude-haiku-5-5", messages=[{"role": "user", "content": "a" * 300}]
    )
    assert 100 <= counted.input_tokens <= 130


async def test_streaming_gives_the_same_answer(far: Far) -> None:
    """The SDK's stream ends in the same tool call and stop reason."""
    async with far.sdk.messages.stream(**body(ASK)) as stream:
        message = await stream.get_final_message()
    assert message.stop_reason == "tool_use"
    assert message.content[0].to_dict()["input"] == {"customer": "João", "amount_cents": 15000}


async def test_max_tokens_zero_only_warms_the_cache(far: Far) -> None:
    """A pre-warming call says nothing."""
    answer = await far.create(ASK, max_tokens=0)
    assert answer.content == []


async def test_the_journal_tells_what_was_asked(far: Far) -> None:
    """Each call is recorded with tools, choice and answer; `contains` finds only its own."""
    mark = "marca-do-diario"
    assert await far.admin.calls(mark) == 0
    await far.create([user(f"oi, {mark}")], tool_choice={"type": "none"})
    with pytest.raises(anthropic.BadRequestError):
        await far.create([user(f"oi, {mark}"), assistant("fim")])
    assert await far.admin.calls(mark) == 2
    good, bad = await far.admin.journal(contains=mark)
    assert good["status"] == 200
    assert "create_pix_charge" in good["tools"]
    assert good["tool_choice"] == {"type": "none"}
    assert good["stream"] is False
    assert good["response"]["content"][0]["type"] == "text"
    assert bad["status"] == 400
    assert bad["seq"] > good["seq"]
    assert await far.admin.journal(since=bad["seq"], contains=mark) == []


async def test_the_back_door_has_a_lock(far: Far) -> None:
    """A wrong secret is refused; without a configured secret there is no back door."""
    async with ClaudeSimulatorClient(far.url, admin_secret="guess") as guesser:
        with pytest.raises(httpx.HTTPStatusError, match="403"):
            await guesser.calls()
    async with running(ClaudeSimulatorConfig()) as closed:
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            await closed.admin.calls()
        assert (await closed.create(ASK)).stop_reason == "tool_use"


async def test_the_journal_survives_a_restart(tmp_path: Path) -> None:
    """With a state file, calls of the process before are still counted."""
    config = ClaudeSimulatorConfig(key=KEY, admin_secret=SECRET, state=tmp_path / "journal.jsonl")
    async with running(config) as first:
        await first.create(ASK)
    async with running(config) as second:
        await second.create(ASK)
        assert await second.admin.calls() == 2
        assert [entry["seq"] for entry in await second.admin.journal()] == [1, 2]
        await second.admin.reset()
        assert await second.admin.calls() == 0


async def test_it_starts_as_a_process_of_its_own() -> None:
    """`python -m simulators.claude` takes its options from the environment too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = os.environ | {"SIM_CLAUDE_KEY": KEY, "SIM_CLAUDE_ADMIN_SECRET": SECRET}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "simulators.claude", "--port", str(port), env=env
    )
    url = f"http://127.0.0.1:{port}"
    try:
        assert await _is_up(url)
        async with (
            anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0) as sdk,
            ClaudeSimulatorClient(url, admin_secret=SECRET) as admin,
        ):
            assert (await sdk.messages.create(**body(ASK))).stop_reason == "tool_use"
            assert await admin.calls() == 1
    finally:
        process.terminate()
        await process.wait()


async def _is_up(url: str) -> bool:
    async with httpx.AsyncClient(base_url=url) as http:
        for _ in range(200):
            try:
                return (await http.get("/health")).status_code == 200
            except httpx.ConnectError:
                await asyncio.sleep(0.05)
    return False
