"""Files that a person sent: where our token may go, and what is no file."""

import hashlib
import json
from typing import Any

import httpx
import pytest

from channels.transcription import MAX_TRANSCRIPT, Transcriber, TranscriptionError
from channels.whatsapp.media import MAX_MEDIA, MediaError, WhatsAppMedia

DATA = b"OggS"
LOOKASIDE = "https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1"


def media(described: Any, data: bytes = DATA, seen: list[httpx.Request] | None = None) -> Any:
    """A reader whose Graph API describes a file so."""

    def answer(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        if request.url.path == "/v26.0/1":
            body = described if isinstance(described, bytes) else json.dumps(described).encode()
            return httpx.Response(200, content=body)
        return httpx.Response(200, content=data)

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    return WhatsAppMedia(
        base_url="https://graph.facebook.com", version="v26.0", token="t", client=client
    )


@pytest.mark.parametrize(
    "url",
    [
        LOOKASIDE,
        "https://graph.facebook.com/file",
        "https://scontent.xx.fbcdn.net/f",
        "https://mmg.whatsapp.net/f",
    ],
)
async def test_a_file_at_metas_is_read_with_the_token(url: str) -> None:
    """Both requests carry it."""
    seen: list[httpx.Request] = []
    wanted = hashlib.sha256(DATA).hexdigest()
    assert await media({"url": url, "sha256": wanted}, seen=seen).read("1") == DATA
    assert [request.headers["authorization"] for request in seen] == ["Bearer t"] * 2


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/f",
        "https://fbsbx.com.evil.example/f",
        "https://evilfbsbx.com/f",
        "http://lookaside.fbsbx.com/f",
        "https://lookaside.fbsbx.com@evil.example/f",
        "http://graph.facebook.com/f",
        "https://graph.facebook.com.evil.example/f",
        "file:///etc/passwd",
        "",
        None,
        7,
        "https://[",
    ],
)
async def test_the_token_goes_nowhere_else(url: object) -> None:
    """A foreign address is not asked at all, and not again."""
    seen: list[httpx.Request] = []
    with pytest.raises(MediaError) as error:
        await media({"url": url}, seen=seen).read("1")
    assert not error.value.retryable
    assert len(seen) == 1


@pytest.mark.parametrize("media_id", ["", "../x", "1/2", "a b", "1?x=1", "x" * 129, "é"])
async def test_an_id_that_would_be_another_path_is_not_asked(media_id: str) -> None:
    """Ids come from webhooks."""
    seen: list[httpx.Request] = []
    with pytest.raises(MediaError):
        await media({"url": LOOKASIDE}, seen=seen).read(media_id)
    assert seen == []


@pytest.mark.parametrize("described", [b"<html>", b"[]", b"null", b"x" * 70_000])
async def test_a_description_that_is_none_is_an_error(described: bytes) -> None:
    """Never a crash."""
    with pytest.raises(MediaError):
        await media(described).read("1")


async def test_a_file_is_whole_or_none() -> None:
    """Another hash, or a byte too many."""
    with pytest.raises(MediaError, match="hash"):
        await media({"url": LOOKASIDE, "sha256": "0" * 64}).read("1")
    with pytest.raises(MediaError, match="more than"):
        await media({"url": LOOKASIDE}, b"x" * (MAX_MEDIA + 1)).read("1")


def transcriber(answer: httpx.Response | Exception) -> Transcriber:
    """A server that answers so."""

    def reply(_: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    client = httpx.AsyncClient(transport=httpx.MockTransport(reply))
    return Transcriber(url="https://ear.example/", key=None, model="m", client=client)


async def test_words_are_heard() -> None:
    """Trimmed, without what PostgreSQL cannot hold."""
    words = await transcriber(httpx.Response(200, json={"text": " oi\x00 \n"})).hear(DATA)
    assert words == "oi"


@pytest.mark.parametrize(
    ("answer", "retryable"),
    [
        (httpx.ConnectError("x"), True),
        (httpx.ReadTimeout("x"), True),
        (httpx.Response(503), True),
        (httpx.Response(429), True),
        (httpx.Response(401), False),
        (httpx.Response(302), False),
        (httpx.Response(200, content=b"<html>"), False),
        (httpx.Response(200, json=[]), False),
        (httpx.Response(200, json={"text": None}), False),
        (httpx.Response(200, json={"text": "  "}), False),
        (httpx.Response(200, json={"text": "\x00"}), False),
        (httpx.Response(200, json={"text": "x" * (MAX_TRANSCRIPT + 1)}), False),
    ],
)
async def test_what_is_no_transcript_is_an_error(
    answer: httpx.Response | Exception, retryable: bool
) -> None:
    """Sorted by whether asking again may help."""
    with pytest.raises(TranscriptionError) as error:
        await transcriber(answer).hear(DATA)
    assert error.value.retryable is retryable
