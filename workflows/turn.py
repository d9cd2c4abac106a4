"""A turn: from one or more messages to an answer or a proposal. One run is one turn.

Waits for the burst to end, takes all unhandled messages, thinks and reads in turns, and ends with a
reply or a proposal; after a proposal the model is not called again. The run ends only if nothing
waits and no bell rang since it asked, with no await between check and return (design §3).
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    WorkflowAlreadyStartedError,
)

with workflow.unsafe.imports_passed_through():
    from activities.closing import Answer, Apologise, Close
    from activities.hear import Hear
    from activities.look_up import LookUp
    from activities.messages import (
        ActionRef,
        ConversationRef,
        ProposalOutcome,
        Route,
        StepRef,
        Taken,
        TurnEnd,
        Unsent,
    )
    from activities.propose import Propose
    from activities.report import Report
    from activities.sending import Announce
    from activities.take import Take
    from activities.think import Think
    from domain import ids
    from workflows import options
    from workflows.pending_action import PendingActionWorkflow

ZERO = timedelta(0)
PAUSED = "paused"
"""No end of a turn: a human has the conversation, and the turn stays open."""


@workflow.defn(name="TurnWorkflow")
class TurnWorkflow:
    """Answers one burst of messages of a conversation."""

    @workflow.init
    def __init__(self, ref: ConversationRef) -> None:
        self._ref = ref
        self._bell = True
        self._rang_at = workflow.now()
        self._useless = 0

    @workflow.signal(name="message")
    def message(self, _row_id: str = "") -> None:
        """Something waits in the inbox or the outbox; what it is stands in the rows."""
        self._bell, self._rang_at = True, workflow.now()

    @workflow.run
    async def run(self, ref: ConversationRef) -> None:
        """Until nothing waits."""
        await self._quiet()
        taken = await self._take()
        if taken.turn_id is None:
            return
        outcome = await self._answer(taken)
        if outcome == PAUSED:  # its messages are rung for when the pause is over
            if self._bell:
                workflow.continue_as_new(ref)
            return
        self._bell = False
        end = TurnEnd(turn_id=taken.turn_id, outcome=outcome)
        more = await workflow.execute_local_activity_method(Close.run, end, **options.SQL)
        if more or self._bell:
            workflow.continue_as_new(ref)

    async def _quiet(self) -> None:
        """Wait for the burst to end. A click never waits here: it is another workflow's."""
        first = workflow.now()
        while True:
            until = min(first + options.LONGEST_BURST, self._rang_at + options.QUIET)
            left = until - workflow.now()
            if left <= ZERO:
                return
            await workflow.sleep(left)

    async def _take(self) -> Taken:
        ref = self._ref
        while True:
            self._bell = False
            taken: Taken = await workflow.execute_local_activity_method(
                Take.run, ref, **options.SQL
            )
            if taken.hears:
                assert taken.turn_id is not None
                await self._hear(taken.turn_id)
                ref = ref.model_copy(update={"deaf": True})
                continue
            if taken.reminded is not None:
                await self._ring(taken.reminded, PendingActionWorkflow.wake)
            if taken.turn_id is not None:
                return taken
            if taken.confirmed is not None:
                await self._ring(taken.confirmed, PendingActionWorkflow.confirm)
                if self._bell:  # another burst began: it is waited for like any
                    workflow.continue_as_new(self._ref)
                return taken
            if taken.unsent:
                await self._announce()
            if not self._bell:
                return taken

    async def _hear(self, turn_id: UUID) -> None:
        """Voice messages become words, stored; what is not heard is answered by template."""
        try:
            await workflow.execute_activity_method(Hear.run, turn_id, **options.HEAR)
        except ActivityError as error:
            workflow.logger.warning("voice messages stay unheard: %s", error.cause)

    async def _ring(self, action: ActionRef, bell: Callable[..., None]) -> None:
        """Wake the action's workflow, or start it anew: for a row that this turn wrote."""
        handle = workflow.get_external_workflow_handle_for(
            PendingActionWorkflow.run, ids.action_workflow_id(action.action_id)
        )
        try:
            await handle.signal(bell, "")
        except FailureError:  # it is gone; its rows say what to do
            await self._start(action, wait=False)

    async def _announce(self) -> None:
        """What earlier turns could not send; what still cannot go is rung again by the sweeper."""
        whose = Unsent(conversation_id=self._ref.conversation_id)
        try:
            await workflow.execute_activity_method(Announce.run, whose, **options.SEND)
        except ActivityError:
            workflow.logger.warning("messages wait; the sweeper rings again")

    async def _answer(self, taken: Taken) -> str:
        """Think and act until the turn has its end; the word for how it ended."""
        assert taken.turn_id is not None
        try:
            if taken.thinks:
                for step in range(options.MOST_STEPS):
                    last = step == options.MOST_STEPS - 1
                    ref = StepRef(turn_id=taken.turn_id, step=step, last=last)
                    outcome = await self._step(ref)
                    if outcome is not None:
                        return outcome
                    if self._useless > options.MOST_USELESS_ANSWERS:
                        break
        except ActivityError as error:
            workflow.logger.warning("turn ends by a template: %s", error.cause)
        return await self._apologise(taken)

    async def _step(self, ref: StepRef) -> str | None:
        """One call of the model and what it asks for; None: think on."""
        thought = await workflow.execute_activity_method(Think.run, ref, **options.THINK)
        match thought.route:
            case Route.REPLY:
                stands = await workflow.execute_activity_method(Answer.run, ref, **options.SEND)
                return "reply" if stands else None
            case Route.READ:
                await workflow.execute_activity_method(LookUp.run, ref, **options.LOOK_UP)
                return None
            case Route.EFFECT:
                return await self._effect(ref, reads=thought.reads)
            case Route.PAUSED:
                return PAUSED
            case Route.HANDED_OVER:
                return "template"  # the tool's own text was the answer
            case Route.GIVE_UP:
                self._useless = options.MOST_USELESS_ANSWERS + 1
                return None
            case _:
                self._useless += 1
                return None

    async def _effect(self, ref: StepRef, *, reads: bool) -> str | None:
        if reads:
            await workflow.execute_activity_method(LookUp.run, ref, **options.LOOK_UP)
        proposed = await workflow.execute_local_activity_method(Propose.run, ref, **options.SQL)
        if proposed.action is None:
            return None
        direct = proposed.outcome is ProposalOutcome.DIRECT
        await self._start(proposed.action, wait=direct)
        if not direct:
            return "proposal"
        await workflow.execute_local_activity_method(
            Report.run, args=[ref, proposed.action], **options.SQL
        )
        return None

    async def _start(self, action: ActionRef, *, wait: bool) -> None:
        """Start the action's own workflow and await its start (a parent that closes in the same
        task would never start it). A child already started is success."""
        try:
            child = await workflow.start_child_workflow(
                PendingActionWorkflow.run,
                action,
                id=ids.action_workflow_id(action.action_id),
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                task_timeout=options.TASK_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            return
        if wait:
            try:
                await asyncio.wait_for(asyncio.shield(child), options.DIRECT_WAIT.total_seconds())
            except TimeoutError:
                workflow.logger.info("a direct action takes its time; the model is told so")

    async def _apologise(self, taken: Taken) -> str:
        assert taken.turn_id is not None
        try:
            said = await workflow.execute_activity_method(
                Apologise.run, taken.turn_id, **options.SEND
            )
        except ActivityError as error:
            if isinstance(error.cause, ApplicationError) and error.cause.type == PAUSED:
                return PAUSED
            return "template"  # its row is written; the sweeper rings until it is sent
        return "template" if said else "silence"
