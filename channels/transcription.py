"""Speech to text by any server that speaks OpenAI's `/v1/audio/transcriptions`; optional.

A transcript is somebody's guess at what was said: it is an ordinary message of the person and never
a yes, however exact it looks.
"""

import asyncio
from types import TracebackType
from typing import Self

import httpx

TRANSCRIBE_CONNECT_SECONDS = 5.0
TRANSCRIBE_TOTAL_SECONDS = 30.0
"""Seconds for upload, hearing and answer; a minute of speech takes a few."""
MAX_TRANSCRIPT = 20_000
"""Characters; an hour of speech has about 50,000, and nobody dictates that here."""
_MAX_ANSWER = 1024 * 1024


class TranscriptionError(Exception):
    """Nothing was heard. `retryable`: it may be heard later. The text holds nothing personal."""

    def __init__(self, reason: str, *, retryable: bool) -> None:
        super().__init__(reason)
        self.retryable = retryable


class Transcriber:
    """Posts audio to `url`/v1/audio/transcriptions with `key` as bearer, if there is one."""

    def __init__(
        self,
        *,
        url: str,
        key: str | None,
        model: str,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._url = f"{url.rstrip('/')}/v1/audio/transcriptions"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._model = model
        timeout = httpx.Timeout(TRANSCRIBE_TOTAL_SECONDS, connect=TRANSCRIBE_CONNECT_SECONDS)
        self._client = client or httpx.AsyncClient(trust_env=False, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def hear(self, audio: bytes) -> str:
        """The words in `audio` (Ogg/Opus, as WhatsApp sends it). Raises TranscriptionError."""
        try:
            async with asyncio.timeout(TRANSCRIBE_TOTAL_SECONDS):
                response = await self._client.post(
                    self._url,
                    headers=self._headers,
                    data={"model": self._model, "response_format": "json"},
                    files={"file": ("voice.ogg", audio, "audio/ogg")},
                )
        except (httpx.HTTPError, TimeoutError) as error:
            raise TranscriptionError(f"no answer: {type(error).__name__}", retryable=True) from None
        if response.status_code != 200:
            again = response.status_code == 429 or response.status_code >= 500
            raise TranscriptionError(f"HTTP {response.status_code}", retryable=again)
        return _words(response)


def _words(response: httpx.Response) -> str:
    try:
        answer = response.json() if len(response.content) <= _MAX_ANSWER else None
    except ValueError:
        answer = None
    text = answer.get("text") if isinstance(answer, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise TranscriptionError("no text in the answer", retryable=False)
    words = "".join(char for char in text if char != "\x00").strip()
    if not words or len(words) > MAX_TRANSCRIPT:
        raise TranscriptionError(f"{len(words)} characters", retryable=False)
    return words
