"""The bytes of a file that a person sent: its address from the Graph API, then the file.

The traps: the address comes in an answer, and our token goes with the request to it, so it is
followed only to Meta's hosts or to the API's own; and a file may be larger than it says, so bytes
are counted.
"""

import asyncio
import hashlib
import re
from types import TracebackType
from typing import Any, Self

import httpx

MAX_MEDIA = 16 * 1024 * 1024
"""Bytes: WhatsApp's own limit for audio."""
MEDIA_CONNECT_SECONDS = 5.0
MEDIA_READ_SECONDS = 10.0
"""Seconds without a byte."""
MEDIA_TOTAL_SECONDS = 20.0
"""Seconds for address and file together."""
MAX_ANSWER = 64 * 1024

_MEDIA_ID = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_META_HOSTS = ("fbsbx.com", "fbcdn.net", "facebook.com", "whatsapp.net")


class MediaError(Exception):
    """The file cannot be had. `retryable`: it may be had later. The text holds nothing personal."""

    def __init__(self, reason: str, *, retryable: bool) -> None:
        super().__init__(reason)
        self.retryable = retryable


class WhatsAppMedia:
    """Reads files with the sender's token. `base_url` with scheme, `version` like `v26.0`."""

    def __init__(
        self, *, base_url: str, version: str, token: str, client: httpx.AsyncClient | None = None
    ) -> None:
        self._base = httpx.URL(base_url)
        self._root = f"{base_url.rstrip('/')}/{version}"
        self._headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
        timeout = httpx.Timeout(MEDIA_READ_SECONDS, connect=MEDIA_CONNECT_SECONDS)
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

    async def read(self, media_id: str) -> bytes:
        """The file, whole and as its hash says. Raises MediaError."""
        if _MEDIA_ID.fullmatch(media_id) is None:
            raise MediaError("media id cannot be in a path", retryable=False)
        try:
            async with asyncio.timeout(MEDIA_TOTAL_SECONDS):
                described = await self._describe(media_id)
                data = await self._get(self._followable(described.get("url")), most=MAX_MEDIA)
        except (httpx.HTTPError, TimeoutError) as error:
            raise MediaError(f"no file: {type(error).__name__}", retryable=True) from None
        wanted = described.get("sha256")
        if isinstance(wanted, str) and wanted.lower() != hashlib.sha256(data).hexdigest():
            raise MediaError("the file is not what its hash says", retryable=True)
        return data

    async def _describe(self, media_id: str) -> dict[str, Any]:
        body = await self._get(httpx.URL(f"{self._root}/{media_id}"), most=MAX_ANSWER)
        try:
            described = httpx.Response(200, content=body).json()
        except ValueError:
            raise MediaError("no JSON about the file", retryable=True) from None
        if not isinstance(described, dict):
            raise MediaError("no JSON object about the file", retryable=True)
        return described

    def _followable(self, address: object) -> httpx.URL:
        try:
            url = httpx.URL(address if isinstance(address, str) else "")
        except httpx.InvalidURL:
            url = httpx.URL("")
        own = (url.scheme, url.host, url.port) == (
            self._base.scheme,
            self._base.host,
            self._base.port,
        )
        metas = url.scheme == "https" and any(
            url.host == host or url.host.endswith(f".{host}") for host in _META_HOSTS
        )
        if not own and not metas:
            raise MediaError("the file's address is not Meta's", retryable=False)
        return url

    async def _get(self, url: httpx.URL, *, most: int) -> bytes:
        async with self._client.stream("GET", url, headers=self._headers) as response:
            if response.status_code != 200:
                again = response.status_code == 429 or response.status_code >= 500
                raise MediaError(f"no file: HTTP {response.status_code}", retryable=again)
            data = bytearray()
            async for part in response.aiter_bytes():
                data += part
                if len(data) > most:
                    raise MediaError(f"the file has more than {most} bytes", retryable=False)
            return bytes(data)
