"""What goes out, whatever channel carries it: frozen, and JSON both ways for the outbox row."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Recipient(_Frozen):
    """To whom: at least one id; a channel that knows the phone addresses by phone.

    Raises `ValueError` (pydantic's) if both ids are missing or one is empty.
    """

    user_id: str | None = Field(default=None, min_length=1)
    wa_id: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _someone(self) -> "Recipient":
        if self.user_id is None and self.wa_id is None:
            raise ValueError("a recipient needs user_id or wa_id, got neither")
        return self


class TextMessage(_Frozen):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class PromptMessage(_Frozen):
    """A text with the two buttons of an action; ids from the channel's button module."""

    type: Literal["prompt"] = "prompt"
    text: str
    confirm_id: str
    confirm_title: str
    cancel_id: str
    cancel_title: str


OutboundMessage = Annotated[TextMessage | PromptMessage, Field(discriminator="type")]

OUTBOUND_MESSAGE: TypeAdapter[TextMessage | PromptMessage] = TypeAdapter(OutboundMessage)
"""`OUTBOUND_MESSAGE.validate_python(dict)` / `.validate_json(bytes)` reads any of them back."""
