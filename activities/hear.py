"""*hear*: voice messages of a turn become words, where a transcription server is set up.

Each message's words, or why there are none, are stored before the next is tried, so a retry costs
nothing twice. Whatever stays unheard is answered by template, as without such a server.
"""

import json
import logging
from uuid import UUID

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.deps import Deps
from channels.transcription import TranscriptionError
from channels.whatsapp.media import MediaError
from store import transcripts

log = logging.getLogger(__name__)


class Hear:
    """Downloads and transcribes the audio of a turn."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="hear")
    async def run(self, turn_id: UUID) -> None:
        """Hear all that can be heard. Raises ApplicationError where a retry may help."""
        async with self._deps.pool.acquire() as connection:
            unheard = await transcripts.unheard(connection, turn_id)
        for inbox_id, raw in unheard:
            text, reason = await self._words(raw)
            if reason is not None:
                log.warning("a voice message was not heard: %s", reason)
            async with self._deps.pool.acquire() as connection:
                await transcripts.keep(connection, inbox_id, text=text, reason=reason)

    async def _words(self, raw: bytes) -> tuple[str | None, str | None]:
        hearing = self._deps.hearing
        assert hearing is not None, "hear runs only where *take* found that somebody can hear"
        try:
            audio = await hearing.media.read(media_id(raw))
            return await hearing.transcriber.hear(audio), None
        except (MediaError, TranscriptionError) as error:
            if error.retryable:
                raise ApplicationError(f"not heard: {error}", type="not_heard") from None
            return None, str(error)


def media_id(raw: bytes) -> str:
    """The id of the audio in a stored item; empty, which is refused as an id, if there is none."""
    item = json.loads(raw)
    audio = item.get("audio") if isinstance(item, dict) else None
    return str(audio.get("id", "")) if isinstance(audio, dict) else ""
