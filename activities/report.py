"""*report*: the model is told what became of a direct tool's action. Local: SQL only."""

from temporalio import activity

from activities import calls
from activities.deps import Deps
from activities.messages import ActionRef, StepRef
from activities.propose import in_progress_data
from domain.actions import Status
from domain.canonical import JsonValue
from domain.history import ToolResult
from store import actions, turns
from store.actions import Action


class Report:
    """Writes the calls and results of a step whose effect was direct."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="report")
    async def run(self, ref: StepRef, action: ActionRef) -> None:
        """Append the step to the history, with the action's stored outcome as its result."""
        async with self._deps.pool.acquire() as connection:
            turn = await turns.read(connection, ref.turn_id)
            stored = await turns.stored_answer(connection, turn=ref.turn_id, step=ref.step)
            reads = await turns.read_results(connection, turn=ref.turn_id, step=ref.step)
            done = await actions.get(connection, action.action_id)
        assert stored is not None, "report runs after think stored its answer"
        answer = calls.read_answer(stored)
        effects = [one for one in answer.calls if calls.is_effect(self._deps.registry, one)]
        results = [
            ToolResult(
                tool_use_id=effects[0].id,
                content=_outcome(done),
                is_error=done.status is Status.FAILED,
            ),
            *calls.second_effects(turn, effects),
            *(ToolResult.model_validate(one) for one in reads),
        ]
        async with self._deps.pool.acquire() as connection, connection.transaction():
            await turns.lock_conversation(connection, turn.conversation_id)
            await calls.write(connection, turn, calls.pair(turn, ref.step, answer, results))


def _outcome(action: Action) -> dict[str, JsonValue]:
    if action.status is Status.EXECUTED:
        return {"status": action.status.value, **(action.result or {})}
    if action.status is Status.FAILED:
        return {"status": action.status.value, "reason": action.detail or action.reason}
    return in_progress_data(action)
