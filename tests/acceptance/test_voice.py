"""Voice messages where a transcription server is set up: words like any others, and never a yes."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest_asyncio
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from temporalio.testing import WorkflowEnvironment

from domain.inbound import InboundKind
from domain.texts import texts_for
from tests.acceptance.test_typed_yes import REMINDER, booking, later
from tests.harness.databases import Databases
from tests.harness.scenes import heard
from tests.harness.serving import serving
from tests.harness.stack import Stack, running_stack

TEMPLATE = texts_for("pt-BR").unsupported_input(InboundKind.AUDIO)
VOICE = b"OggS-the-voice-of-maria"


@dataclass
class Ear:
    """An OpenAI-compatible server that hears what it was told to, and keeps what it was sent."""

    hears: str = "qual é o meu saldo?"
    statuses: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    url: str = ""

    def app(self) -> FastAPI:
        """Its one route."""
        app = FastAPI()

        @app.post("/v1/audio/transcriptions")
        async def transcribe(request: Request) -> Response:
            self.bodies.append(await request.body())
            self.keys.append(request.headers.get("authorization", ""))
            status = self.statuses.pop(0) if self.statuses else 200
            return JSONResponse({"text": self.hears}, status_code=status)

        return app


@dataclass
class Room:
    """A system that can hear, and the server that it hears by."""

    stack: Stack
    ear: Ear


@pytest_asyncio.fixture(loop_scope="session")
async def room(databases: Databases, temporal_env: WorkflowEnvironment) -> AsyncIterator[Room]:
    """A fresh one each test."""
    ear = Ear()
    async with (
        serving(ear.app()) as url,
        running_stack(databases, temporal_env, transcribe_url=url) as stack,
    ):
        await stack.whatsapp.put_media("901", VOICE)
        yield Room(stack=stack, ear=ear)


async def speak(room: Room, media: str = "901") -> None:
    """Maria sends a voice message; returns when all is done."""
    voice = {"type": "audio", "audio": {"id": media, "mime_type": "audio/ogg", "voice": True}}
    await room.stack.whatsapp.send_raw("maria", {**voice, "timestamp": str(later())})
    await room.stack.quiet(30)


async def test_a_voice_message_is_answered_like_the_words_in_it(room: Room) -> None:
    """Downloaded with the token, posted with the key and the model's name, and its words go to the
    model; heard once."""
    await speak(room)
    (answer,) = await heard(room.stack)
    assert "1.000,00" in answer
    (body,) = room.ear.bodies
    assert VOICE in body
    assert b"whisper-1" in body
    assert room.ear.keys == ["Bearer transcribe-key"]
    assert "qual é o meu saldo?" in (await room.stack.claude.journal())[0]["user_text"]


async def test_a_transcript_is_never_a_yes(room: Room) -> None:
    """However exact it is: the action waits, and the person is reminded of the buttons."""
    action = await booking(room.stack)
    room.ear.hears = "Sim."
    await speak(room)
    assert len(room.ear.bodies) == 1
    assert (await room.stack.action(action["id"]))["status"] == "pending"
    assert await room.stack.pool.fetchval("SELECT count(*) FROM decisions") == 0
    assert any(REMINDER in text for text in await heard(room.stack))


async def test_a_server_that_fails_for_a_moment_is_asked_again(room: Room) -> None:
    """503, then words: answered, without a template."""
    room.ear.statuses = [503]
    await speak(room)
    (answer,) = await heard(room.stack)
    assert "1.000,00" in answer
    assert len(room.ear.bodies) == 2


async def test_what_cannot_be_heard_is_answered_by_template(room: Room) -> None:
    """The server is down or refuses, the file is gone, too large, or not what its hash says: each
    time the one template, and no model is called."""
    await room.stack.whatsapp.put_media("902", VOICE, sha256="0" * 64)
    await room.stack.whatsapp.put_media("903", b"x" * (16 * 1024 * 1024 + 1))
    began = time.monotonic()
    for n, (media, statuses) in enumerate(
        [("901", [400]), ("901", [503] * 3), ("000", []), ("902", []), ("903", []), ("../x", [])]
    ):
        room.ear.statuses = list(statuses)
        await speak(room, media)
        assert await heard(room.stack) == [TEMPLATE] * (n + 1), media
    assert await room.stack.claude.calls() == 0
    assert time.monotonic() - began < 40
