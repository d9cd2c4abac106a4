"""One call to Claude: the request that every model of the table accepts, and no retry.

The trap this closes: the SDK retries by itself (nine calls for one, facts/claude.md §6.3), builds
without a key, and gives a message of Nones for `{}`. What comes out of here is an answer with a
stop reason, or a ModelFailure. Forced tools, prefill, temperature and streaming are not used
(facts §0, §7).
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import anthropic
import httpx2

from domain.errors import SettingsError
from llm.answers import ModelAnswer
from llm.errors import garbled, to_failure
from llm.models import DEFAULT_MODEL, Capability, capability_of
from llm.render import Message

TIMEOUT_SECONDS = 45.0
"""Below the activity's 60 s, so that the client's error comes first (facts §6.5)."""
CONNECT_SECONDS = 5.0


def build_anthropic(
    api_key: str,
    *,
    base_url: str | None = None,
    timeout: float = TIMEOUT_SECONDS,
    http_client: httpx2.AsyncClient | None = None,
) -> anthropic.AsyncAnthropic:
    """The SDK's client, one for a worker process. `timeout`: seconds for a whole call.

    `http_client` is for tests at the wire. Raises SettingsError if the key is blank: the SDK would
    only notice at the first call.
    """
    if not api_key.strip():
        raise SettingsError("ANTHROPIC_API_KEY is empty: set the key, or use the simulator")
    return anthropic.AsyncAnthropic(
        api_key=api_key,
        base_url=base_url,
        timeout=httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
        max_retries=0,
        http_client=http_client,
    )


class ClaudeClient:
    """Asks one model. Holds no conversation."""

    def __init__(self, client: anthropic.AsyncAnthropic, model: str = DEFAULT_MODEL) -> None:
        self._client = client
        self.capability: Capability = capability_of(model)

    @property
    def model(self) -> str:
        """The id that is sent."""
        return self.capability.model

    async def ask(
        self,
        system: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        messages: Sequence[Message],
        *,
        allow_tools: bool = True,
        allow_parallel: bool = False,
        max_tokens: int | None = None,
    ) -> ModelAnswer:
        """Make one HTTP call and return its answer.

        `tools` go along even if none may be called: leaving them out would void the cache.
        `max_tokens`: None for the model's own. Raises ModelFailure; an exception that is not about
        the call passes as it is.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self.capability.max_tokens if max_tokens is None else max_tokens,
            "system": [dict(block) for block in system],
            "messages": list(messages),
            **self._how_to_think(),
            **_tool_fields(tools, allow_tools=allow_tools, allow_parallel=allow_parallel),
        }
        started = time.monotonic()
        try:
            message = await self._client.messages.create(**body)
        except Exception as error:
            failure = to_failure(error)
            if failure is None:
                raise
            raise failure from None  # the original may quote the conversation
        return _answer(message, model=self.model, seconds=time.monotonic() - started)

    def _how_to_think(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self.capability.thinking is not None:
            fields["thinking"] = {"type": self.capability.thinking}
        if self.capability.effort is not None:
            fields["output_config"] = {"effort": self.capability.effort}
        return fields


def _tool_fields(
    tools: Sequence[Mapping[str, Any]], *, allow_tools: bool, allow_parallel: bool
) -> dict[str, Any]:
    if not tools:
        return {}
    choice: dict[str, Any] = {"type": "none"}
    if allow_tools:
        choice = {"type": "auto", "disable_parallel_tool_use": not allow_parallel}
    return {"tools": [dict(tool) for tool in tools], "tool_choice": choice}


def _answer(message: object, *, model: str, seconds: float) -> ModelAnswer:
    """The SDK's message as plain data. Raises ModelFailure (garbled) if it is none."""
    if not isinstance(message, anthropic.types.Message):
        raise garbled(f"the answer is a {type(message).__name__}, not a message")
    request_id = message._request_id
    raw = message.to_dict(mode="json", warnings=False)  # pydantic would print the odd values
    content = raw.get("content")
    if not isinstance(raw.get("stop_reason"), str) or not isinstance(content, list):
        raise garbled("the answer has no stop reason or no content", request_id=request_id)
    if not all(isinstance(block, dict) for block in content):
        raise garbled("the answer holds something that is no block", request_id=request_id)
    return ModelAnswer(
        stop_reason=str(raw["stop_reason"]),
        blocks=tuple(block for block in content if not _is_empty_text(block)),
        usage=_counts(raw.get("usage")),
        request_id=request_id,
        model=str(raw.get("model") or model),
        latency_ms=round(seconds * 1000),
    )


def _is_empty_text(block: Mapping[str, Any]) -> bool:
    """The API itself sends these and refuses them when they come back (facts §3.3)."""
    return block.get("type") == "text" and not str(block.get("text") or "").strip()


def _counts(usage: object, prefix: str = "") -> dict[str, int]:
    """All whole numbers of the usage, nested ones by their path."""
    counts: dict[str, int] = {}
    for name, value in usage.items() if isinstance(usage, dict) else ():
        if isinstance(value, int) and not isinstance(value, bool):
            counts[f"{prefix}{name}"] = value
        counts |= _counts(value, f"{prefix}{name}.")
    return counts
