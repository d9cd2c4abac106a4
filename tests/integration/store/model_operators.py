"""The model's rules of operators' words (design §3, operators) and of a restore (design §9)."""

from tests.integration.store.model_data import (
    APART,
    IN_FLIGHT,
    LAG_UNKNOWN,
    PROVIDERS,
    RESEND_AFTER_CLICK,
    RESEND_FRESH,
    ModelAction,
    ModelDecision,
)
from tests.integration.store.model_executing import Executing


class Operating(Executing):
    """What operators do to an action that is stuck."""

    def settle(self, action_id: str, verdict: str, as_send: int | None, by: str, rules: str) -> str:
        """`done` or `refused`."""
        action = self.actions[action_id]
        if not self._may_settle(action, verdict, as_send, rules):
            return "refused"
        word = ModelDecision(verdict, True, self.now, by=by, as_send=as_send)
        action.decisions.append(word)
        if verdict == "resend":
            word.valid_until = self._valid_until(action, rules)
            return "done"
        word.answer(None)
        reason = "settled_by_operator" if verdict == "failed" else None
        self._leave(action, verdict, reason)
        return "done"

    def operator_looks(self, action_id: str, seen: str) -> bool:
        """Evidence that moves nothing; whether it contradicts how the action was closed."""
        action = self.actions[action_id]
        self.remember_look(action, seen)
        return action.over and action.status != "executed" and seen.startswith("found")

    def hold_all(self, by: str) -> None:
        """The database came back from a backup: nothing that was open goes on by itself."""
        for action in self.actions.values():
            if action.status == "pending":
                for one in action.unanswered():
                    one.answer("restored")
                self._leave(action, "expired", "restored")
            elif action.status == "executing" and action.frozen_at is None:
                self._hold(action, by)

    def _hold(self, action: ModelAction, by: str) -> None:
        if action.effect == "provider":
            action.frozen_at, action.look_at = self.now, None  # machines look at once
            self.end_rights(action, "restored")
            return
        word = ModelDecision("failed", True, self.now, by=by)
        word.answer(None)
        action.decisions.append(word)
        self._leave(action, "failed", "settled_by_operator")

    # -- the rules

    def _may_settle(
        self, action: ModelAction, verdict: str, as_send: int | None, rules: str
    ) -> bool:
        flying = [one for one in action.sends if one.outcome is None]
        if action.status != "executing" or any(self.now < x.at + IN_FLIGHT for x in flying):
            return False
        in_doubt = action.effect == "provider" and (action.doubtful or action.frozen_at is not None)
        if verdict == "executed":
            return in_doubt
        if verdict == "failed":
            return not in_doubt or self._surely_absent(action, rules)
        return (
            action.doubtful
            and action.frozen_at is None
            and self._may_go_again(action, as_send, rules)
            and self._surely_absent(action, rules)
        )

    def _surely_absent(self, action: ModelAction, rules: str) -> bool:
        """Nothing of it was ever seen at the provider, and it was looked for twice, apart, after
        the time in which a look-up may miss it."""
        provider = PROVIDERS[rules]
        lag = LAG_UNKNOWN if provider is None else provider[0]
        starts = [one.at for one in action.sends if one.in_doubt]
        starts += [action.frozen_at] if action.frozen_at is not None else []
        absent = [at for at, seen in action.looked if seen == "absent" and at >= max(starts) + lag]
        seen = any(presence == "found" for _at, presence in action.looked)
        said = any(one.outcome in {"created", "conflict"} for one in action.sends)
        return not seen and not said and len(absent) >= 2 and max(absent) - min(absent) >= APART

    def _may_go_again(self, action: ModelAction, as_send: int | None, rules: str) -> bool:
        """Exactly the next send, not ordered yet, soon after the click, by a provider that still
        knows the key and does not work on it."""
        provider = PROVIDERS[rules]
        ordered = any(
            one.as_send == as_send and one.followed is not False
            for one in action.decisions
            if one.verdict == "resend"
        )
        works = any(one.outcome == "in_progress" for one in action.sends)
        return (
            provider is not None
            and not works
            and not ordered
            and as_send == len(action.sends) + 1
            and self.now < action.confirmed_at + RESEND_AFTER_CLICK
            and self.now < action.sends[0].at + provider[1]
        )

    def _valid_until(self, action: ModelAction, rules: str) -> int:
        provider = PROVIDERS[rules]
        assert provider is not None
        return min(
            self.now + RESEND_FRESH,
            action.confirmed_at + RESEND_AFTER_CLICK,
            action.sends[0].at + provider[1],
        )
