"""*decide*: the one door out of `pending`, and what to do next. Local: SQL only, retried freely."""

from temporalio import activity

from activities.deps import Deps
from activities.failures import permanent
from activities.messages import ActionRef, NextStep
from store import deciding


class Decide:
    """Applies stored decisions and the clock to an action."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="decide")
    async def run(self, ref: ActionRef) -> NextStep:
        """What the action's workflow does next. Raises ApplicationError, not to be retried, for an
        action that does not exist."""
        try:
            async with self._deps.pool.acquire() as connection:
                following = await deciding.decide(connection, ref.action_id)
        except LookupError as error:
            raise permanent("decide", error) from None
        return NextStep(
            status=following.status.value,
            do=following.do.value,
            wait_s=following.wait_s,
            unsent=following.unsent,
        )
