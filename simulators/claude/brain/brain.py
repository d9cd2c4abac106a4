"""The order in which the brain decides; each rule lives in its own file."""

from simulators.claude.brain.command import command_reply
from simulators.claude.brain.conversation import View, read
from simulators.claude.brain.facts import has_open_action, last_came_to_nothing, status_answer
from simulators.claude.brain.intents import (
    asks_status,
    is_bare_cancel,
    is_greeting,
    is_redo,
    is_thanks,
    is_typed_yes,
    tool_of,
)
from simulators.claude.brain.planning import next_step
from simulators.claude.brain.results import describe
from simulators.claude.brain.slots import slots_of
from simulators.claude.brain.wish import Wish, repeated_wish, wish_of
from simulators.claude.reply import Reply, call, say
from simulators.claude.request_rules import CheckedRequest

HELLO = "Olá! Posso ver e marcar horários, gerar cobranças Pix, consultar o saldo e mais."
HELP = "Não entendi bem. Posso ajudar com horários, cobranças Pix, estornos e saldo. O que precisa?"
BUTTONS = "Para decidir, use os botões Confirmar ou Cancelar na mensagem com o resumo."
_CHAINED = {"cancel_booking", "reschedule_booking"}


def think(request: CheckedRequest) -> Reply:
    """Return the answer to a checked request; the same request always gets the same answer."""
    view = read(request)
    if view.forced is not None and not view.steps:
        return call(view.forced, _forced_arguments(view, view.forced))
    if view.steps:
        return _after_tools(view)
    return command_reply(view) or _to_text(view)


def _after_tools(view: View) -> Reply:
    """Go on after tool results: the second half of a chain, else tell what came out."""
    last = view.steps[-1]
    if last.name == "list_bookings" and not last.is_error:
        wish = wish_of(view)
        if wish is not None and wish.tool in _CHAINED and view.may_call:
            return next_step(wish, view)
    return say("\n".join(dict.fromkeys(describe(step) for step in view.steps)))


def _to_text(view: View) -> Reply:
    if asks_status(view.text):
        return say(status_answer(view))
    if is_typed_yes(view.text) and has_open_action(view):
        return say(BUTTONS)
    wish = wish_of(view)
    if wish is None and _wants_it_again(view):
        wish = repeated_wish(view)
    if wish is not None:
        return next_step(wish, view)
    if is_bare_cancel(view.text) and has_open_action(view):
        return say(BUTTONS)
    if is_greeting(view.text):
        return say(HELLO)
    if is_thanks(view.text):
        return say("De nada! Se precisar de mais alguma coisa, é só chamar.")
    return say(HELP)


def _wants_it_again(view: View) -> bool:
    """ "refaz", or a yes to the question whether to prepare it anew."""
    return is_redo(view.text) or (is_typed_yes(view.text) and last_came_to_nothing(view))


def _forced_arguments(view: View, tool: str) -> dict[str, object]:
    asked = tool_of(view.text)
    wish = Wish(tool=tool, slots=slots_of(tool, view.text, view.now)) if asked else None
    reply = next_step(wish, view) if wish else None
    block = reply.content[0] if reply else {}
    return dict(block["input"]) if block.get("type") == "tool_use" else {}
