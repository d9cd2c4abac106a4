"""The model's rules of attempts, the fence, outcomes, look-ups and the prompt."""

from tests.integration.store.model_data import (
    LOCKED,
    LOOK_FIRST,
    LOOK_LONGEST,
    ModelAction,
    ModelSend,
)
from tests.integration.store.model_deciding import Deciding


class Executing(Deciding):
    """What workers do to an action that was decided."""

    def _fresh(self, action: ModelAction) -> bool:
        return action.status == "executing" and self.now < action.fresh_until()

    def _open(self, action: ModelAction, attempt: int | None = None) -> bool:
        """Executing, no restore came between, and the attempt is still the newest."""
        mine = attempt is None or action.attempt == attempt
        return action.status == "executing" and action.frozen_at is None and mine

    def open_attempt(self, action_id: str) -> int | None:
        """The number of the attempt, which is the only one that may send from now on."""
        action = self.actions[action_id]
        if not self._open(action):
            return None
        held = action.direct and action.attempt > 0 and action.locked_until >= self.now
        may_begin = self._fresh(action) and not action.doubtful and not held
        if not may_begin and action.open_right(self.now) is None:
            return None
        action.attempt += 1
        action.locked_until = self.now + LOCKED
        return action.attempt

    def fence(self, action_id: str, attempt: int) -> int | None:
        """The number of the send that may go now: the first, or one after sends that are proved not
        sent, while it is fresh; else the one that an operator's word allows, which is used up."""
        action = self.actions[action_id]
        if not self._open(action, attempt):
            return None
        if not self._fresh(action) or action.doubtful:
            right = action.open_right(self.now)
            if right is None:
                return None
            right.answer(None)
        action.sends.append(ModelSend(len(action.sends) + 1, attempt, self.now))
        return len(action.sends)

    def act_in_database(self, action_id: str, attempt: int) -> bool:
        """Whether the effect happened, in the transaction that records it."""
        action = self.actions[action_id]
        if not self._open(action, attempt) or not self._fresh(action):
            return False
        self._leave(action, "executed", None)
        return True

    def write_send(self, action_id: str, n: int, outcome: str) -> None:
        """The outcome goes into the send's row, the first one that is written."""
        send = self.actions[action_id].sends[n - 1]
        send.outcome = send.outcome or outcome

    def write_outcome(self, action_id: str, n: int, outcome: str) -> str:
        """What recording the outcome makes of the action."""
        self.write_send(action_id, n, outcome)
        action = self.actions[action_id]
        if outcome == "created":
            return self._proved(action)
        if outcome == "rejected" and action.status == "executing":
            if any(one.in_doubt for one in action.sends if one.n != n):
                action.sends[n - 1].outcome = "unknown"
                return "open"
            self._leave(action, "failed", "rejected")
        return written(action)

    def _proved(self, action: ModelAction) -> str:
        if action.status == "executing":
            self._leave(action, "executed", None)
        return "executed" if action.status == "executed" else "contradiction"

    def close_unsent(self, action_id: str) -> bool:
        """Whether "nothing was sent" could be made true. What stands against the first send stands
        against an operator's further one too."""
        action = self.actions[action_id]
        if action.doubtful:
            self.end_rights(action, "no_longer_possible")
        if not self._open(action) or action.doubtful:
            return False
        self._leave(action, "failed", "no_longer_possible")
        return True

    # -- settling

    def look(self, action_id: str, seen: str, send: int | None) -> str:
        """What a look-up leads to: `found` (equal, final), `absent_final`, or nothing certain.
        `send`: the latest in doubt when it began; a failure says nothing of a later one."""
        action = self.actions[action_id]
        self.remember_look(action, seen)
        if seen == "found":
            return self._proved(action)
        if action.status != "executing":
            return written(action)
        if seen == "absent_final" and action.last_doubtful == send:
            self._leave(action, "failed", "rejected")
            return "failed"
        action.looks += 1
        action.look_at = self.now + min(LOOK_FIRST * 2 ** (action.looks - 1), LOOK_LONGEST)
        action.told = action.told or action.looks >= 2
        return "open"

    def remember_look(self, action: ModelAction, seen: str) -> None:
        """It is evidence, on which an operator may settle."""
        action.looked.append((self.now, seen.partition("_")[0]))

    # -- the prompt

    def prompt(self, action_id: str, outcome: str) -> bool:
        """Whether the prompt could be sent; `refused` means that no copy arrived."""
        action = self.actions[action_id]
        if not action.prompt_open:
            return False
        action.prompt_open = False
        if action.status != "pending":
            action.prompt_failed = True  # dropped unsent; it matters to nobody any more
            return False
        action.prompt_failed = outcome == "refused"
        action.prompted_at = None if action.prompt_failed else self.now
        return True


def written(action: ModelAction) -> str:
    """How the product says where an action stands after something was written about it."""
    if action.status == "executing":
        return "open"
    return "executed" if action.status == "executed" else "failed"
