"""What travels between workflows and activities: ids, digests and small words, never a name, a
phone, an amount or a text (design §8). Fields may only be added, with defaults: they are stored in
histories."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)


class ConversationRef(_Message):
    """Input of a turn workflow, and of *take*. `deaf`: what was not heard by now stays unheard."""

    conversation_id: UUID
    deaf: bool = False


class ActionRef(_Message):
    """Input of an action's workflow. `expires_at` is absolute: a reset must not restart the
    deadline. Both are for the operator's eyes; what decides is read from the row."""

    action_id: str
    digest: str = ""
    expires_at: datetime | None = None


class Taken(_Message):
    """What *take* found. `turn_id` None: nothing to answer. `thinks`: whether the model is asked,
    or a template answers. `unsent`: messages of earlier turns wait to be sent. `confirmed`: the
    only message was a typed yes to this action. `reminded`: a reminder of this action is to be
    sent. `hears`: voice messages are to be heard before the turn's input is known.
    """

    turn_id: UUID | None = None
    thinks: bool = True
    unsent: bool = False
    confirmed: ActionRef | None = None
    reminded: ActionRef | None = None
    hears: bool = False


class StepRef(_Message):
    """A step of a turn: the n-th call of the model. `last`: no tool may be called any more."""

    turn_id: UUID
    step: int
    last: bool = False


class Route(StrEnum):
    """What an answer asks for."""

    REPLY = "reply"  # text to the person
    READ = "read"  # read tools, or calls that only get an error
    EFFECT = "effect"  # one effect is proposed, reads beside it are answered
    AGAIN = "again"  # nothing usable: think once more
    PAUSED = "paused"  # a human has the conversation: the turn stays open and goes on afterwards
    HANDED_OVER = "handed_over"  # this very turn asked for the human, and the person was told
    GIVE_UP = "give_up"  # a template answers


class Thought(_Message):
    """Where an answer leads. `reads`: read tools stand in it."""

    route: Route
    reads: bool = False


class ProposalOutcome(StrEnum):
    """What became of a proposed effect."""

    PROPOSED = "proposed"  # the turn ends here
    ANSWERED = "answered"  # an error or `already_done`: the model thinks on
    STALE = "stale"  # the facts moved: think again
    DIRECT = "direct"  # a direct tool: execute now, then the model goes on


class ProposalDone(_Message):
    """What *propose* made of an answer."""

    outcome: ProposalOutcome
    action: ActionRef | None = None


class TurnEnd(_Message):
    """How a turn ends: `reply`, `proposal`, `template` or `silence`."""

    turn_id: UUID
    outcome: str


class Unsent(_Message):
    """Whose messages *announce* sends: an action's, or those of a conversation's turns."""

    action_id: str | None = None
    conversation_id: UUID | None = None


class NextStep(_Message):
    """What *decide* tells the workflow of an action: see `store.next_step.Next`."""

    status: str
    do: str
    wait_s: float = 0.0
    unsent: bool = False
