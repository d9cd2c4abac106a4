"""What a conversation was, as it is stored: append-only entries, never edited.

The trap this closes: a history that is kept as ready-made model messages gets edited when an action
is decided, and a click that lands between a tool call and its result wedges the conversation for
ever. So what happened is stored as facts of five kinds, and one pure function (`llm.render`) makes
messages of them (design §7). Numbers inside the model's own blocks may be floats, so this is plain
JSON, not the canonical form of `domain.canonical`.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

Block: TypeAlias = dict[str, JsonValue]
"""One content block of the model's answer, as its wire format writes it (facts §3.3)."""


class EntryKind(StrEnum):
    """The kinds of entries; the same words stand in the CHECK of table `history`."""

    USER_TEXT = "user_text"
    ASSISTANT_BLOCKS = "assistant_blocks"
    TOOL_RESULTS = "tool_results"
    SENT_TEXT = "sent_text"
    ACTION_EVENT = "action_event"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class UserLine(_Frozen):
    """One message of a person, as he wrote it.

    `at`: ISO 8601 with offset, in the account's time zone. `quoted`: the text of the message that
    he replied to. Both texts are the person's and are escaped when rendered, not here.
    `by_team`: not the person but a human of the business wrote it, from another device.
    """

    text: str
    at: str
    quoted: str | None = None
    forwarded: bool = False
    by_team: bool = False

    @field_validator("at")
    @classmethod
    def _at_is_iso_with_offset(cls, at: str) -> str:
        if datetime.fromisoformat(at).tzinfo is None:
            raise ValueError(f"at needs an offset, got {at!r}")
        return at


class UserText(_Frozen):
    """What a person wrote in one burst, in order; the one place where a history may be cut."""

    lines: tuple[UserLine, ...] = Field(min_length=1)


class AssistantBlocks(_Frozen):
    """The model's answer. `unsent_text`: what it wrote beside a tool call; nobody was shown it."""

    blocks: tuple[Block, ...]
    unsent_text: str | None = None


class ToolResult(_Frozen):
    """What one tool call came to: data only, no instruction (facts §8)."""

    tool_use_id: str = Field(min_length=1)
    content: JsonValue
    is_error: bool = False


class ToolResults(_Frozen):
    """The results of all tool calls of the entry before; stored in the same transaction as it."""

    results: tuple[ToolResult, ...] = Field(min_length=1)


class SentText(_Frozen):
    """What the system itself sent: a prompt, a feedback, a template."""

    text: str = Field(min_length=1)


class ActionEvent(_Frozen):
    """What a person did to an action, in the words of `domain/texts.py`."""

    text: str = Field(min_length=1)


EntryContent: TypeAlias = UserText | AssistantBlocks | ToolResults | SentText | ActionEvent

_CLASSES: dict[EntryKind, type[EntryContent]] = {
    EntryKind.USER_TEXT: UserText,
    EntryKind.ASSISTANT_BLOCKS: AssistantBlocks,
    EntryKind.TOOL_RESULTS: ToolResults,
    EntryKind.SENT_TEXT: SentText,
    EntryKind.ACTION_EVENT: ActionEvent,
}
_KINDS: dict[type[EntryContent], EntryKind] = {cls: kind for kind, cls in _CLASSES.items()}


def kind_of(content: EntryContent) -> EntryKind:
    """The kind under which this content is stored."""
    return _KINDS[type(content)]


class Entry(_Frozen):
    """One stored entry: `position` orders the conversation, `kind` says how to read `content`.

    `Entry(position=…, kind=…, content=<dict as stored>)` reads a row; raises pydantic's
    ValidationError (a ValueError) if the content is not of that kind.
    """

    position: int = Field(ge=0)
    kind: EntryKind
    content: EntryContent

    @classmethod
    def of(cls, position: int, content: EntryContent) -> "Entry":
        """An entry whose kind follows from its content."""
        return cls(position=position, kind=kind_of(content), content=content)

    @model_validator(mode="before")
    @classmethod
    def _read_content_by_kind(cls, values: Any) -> Any:
        """Read stored JSON by the stored kind: guessing by shape would take one for another."""
        if isinstance(values, Mapping) and isinstance(values.get("content"), Mapping):
            content = _CLASSES[EntryKind(values["kind"])].model_validate(values["content"])
            return {**values, "content": content}
        return values

    @model_validator(mode="after")
    def _content_is_of_its_kind(self) -> "Entry":
        if kind_of(self.content) is not self.kind:
            raise ValueError(f"kind {self.kind.value!r} with a {type(self.content).__name__}")
        return self

    def stored_content(self) -> dict[str, Any]:
        """The content as JSON for the column `content`; `Entry(...)` reads it back equal."""
        return self.content.model_dump(mode="json", exclude_none=True)
