"""An action's life: prompt, wait, decide, execute, settle, announce; then it ends.

The workflow is a clock and a pair of hands: what happens next is read from rows by *decide*, never
from which signal or timer woke it. So it may be terminated, reset or started anew at any moment and
goes on where the rows are (design §3).
"""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.decide import Decide
    from activities.execute import Execute
    from activities.messages import ActionRef, NextStep, Unsent
    from activities.sending import Announce
    from activities.settle import Settle
    from workflows import options

RESTART_AFTER_EVENTS = 4_000  # a stuck action is looked at for a day; histories have limits


@workflow.defn(name="PendingActionWorkflow")
class PendingActionWorkflow:
    """Brings one action to its end."""

    @workflow.init
    def __init__(self, ref: ActionRef) -> None:
        self._ref = ref
        self._bell = False
        self._failures = 0
        self._prompting: asyncio.Task[None] | None = None

    @workflow.signal(name="confirm")
    def confirm(self, _row_id: str = "") -> None:
        """A bell: a Confirm was stored. Without its row it decides nothing."""
        self._bell = True

    @workflow.signal(name="cancel")
    def cancel(self, _row_id: str = "") -> None:
        """A bell: a Cancel was stored."""
        self._bell = True

    @workflow.signal(name="wake")
    def wake(self, _row_id: str = "") -> None:
        """A bell: the sweeper found work left."""
        self._bell = True

    @workflow.run
    async def run(self, ref: ActionRef) -> str:
        """The status with which this run ends; `executing` if only an operator can settle it."""
        while True:
            self._bell = False
            following: NextStep = await workflow.execute_local_activity_method(
                Decide.run, ref, **options.SQL
            )
            if following.do == "wait":
                self._begin_prompt(following)
                await self._pause(following.wait_s)
            elif following.do in {"end", "rest"}:
                await self._announce(following)
                if not self._bell:
                    return following.status
            else:
                await self._act(following)
            if workflow.info().get_current_history_length() > RESTART_AFTER_EVENTS:
                workflow.continue_as_new(ref)

    def _begin_prompt(self, following: NextStep) -> None:
        """Send the prompt beside the wait; a click may come before its answer does."""
        if following.unsent and (self._prompting is None or self._prompting.done()):
            self._prompting = asyncio.create_task(self._prompt())

    async def _prompt(self) -> None:
        """Rings our own bell if the prompt certainly failed: then *decide* closes the action."""
        whose = Unsent(action_id=self._ref.action_id)
        try:
            refused = await workflow.execute_activity_method(Announce.prompt, whose, **options.SEND)
        except ActivityError:
            refused = True  # not sent for a while: *decide* says whether to go on trying
        self._bell = self._bell or refused

    async def _pause(self, seconds: float) -> None:
        """Until a bell rings or the time is over; rows decide which of the two mattered."""
        timeout = max(timedelta(seconds=seconds), options.SHORTEST_WAIT)
        try:
            await workflow.wait_condition(lambda: self._bell, timeout=timeout)
        except TimeoutError:
            return

    async def _act(self, following: NextStep) -> None:
        """Execute or settle now, or wait for its moment; the rows may say something else by
        then."""
        if following.wait_s > 0:
            if following.do == "settle":  # a channel that is away must not use up the freshness
                await self._announce(following)
            await self._pause(following.wait_s)
            return
        try:
            if following.do == "execute":
                await workflow.execute_activity_method(Execute.run, self._ref, **options.EXECUTE)
            else:
                await workflow.execute_activity_method(Settle.run, self._ref, **options.SETTLE)
            self._failures = 0
        except ActivityError as error:
            workflow.logger.warning("%s ended without a word: %s", following.do, error.cause)
            await self._after_failure()

    async def _after_failure(self) -> None:
        """The first look at the rows comes at once. A worker that fails before it can open an
        attempt leaves no row that says wait, and would be asked again a hundred times a second."""
        self._failures += 1
        if self._failures > 1:
            pause = 2.0 ** (min(self._failures, 10) - 2)
            await self._pause(min(pause, options.LONGEST_PAUSE.total_seconds()))

    async def _announce(self, following: NextStep) -> None:
        """Send what is due; what cannot go now is rung again by the sweeper."""
        if not following.unsent:
            return
        whose = Unsent(action_id=self._ref.action_id)
        try:
            await workflow.execute_activity_method(Announce.run, whose, **options.SEND)
        except ActivityError:
            workflow.logger.warning("messages wait; the sweeper rings again")
