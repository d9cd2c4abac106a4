"""Where a turn's workflow is, and what is to happen at its next activity."""

import uuid
from dataclasses import dataclass

from activities.messages import ActionRef, StepRef
from workflows.options import MOST_STEPS


@dataclass(frozen=True)
class Wish:
    """What is to happen at the next activity. `what`: what the model asks for, if it does."""

    kind: str
    what: str = "a"
    dies: int | None = None
    again: bool = False


@dataclass
class OpenTurn:
    """Where the turn's workflow is."""

    id: uuid.UUID
    step: int = 0
    useless: int = 0
    phase: str = "think"
    reads: bool = False
    action: ActionRef | None = None
    outcome: str = ""

    @property
    def ref(self) -> StepRef:
        """The step's reference."""
        return StepRef(turn_id=self.id, step=self.step, last=self.step == MOST_STEPS - 1)
