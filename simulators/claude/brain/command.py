"""`/tool NAME {json}`: a person at the phone page plays the model."""

import json
import re

from simulators.claude.brain.conversation import View
from simulators.claude.reply import Reply, call, say

_COMMAND = re.compile(r"^/tool\b\s*(\S*)\s*(.*)$", re.DOTALL)
HOW = 'Escreva assim: /tool NOME {"campo": "valor"}'


def command_reply(view: View) -> Reply | None:
    """Return the call that the command spells out, a text saying how, or None if it is none."""
    match = _COMMAND.match(view.text.strip())
    if match is None:
        return None
    name, raw = match[1], match[2].strip() or "{}"
    if name not in view.schemas or not view.may_call:
        offered = ", ".join(sorted(view.schemas)) or "nenhuma"
        return say(f"A ferramenta {name!r} não está disponível. Disponíveis: {offered}. {HOW}")
    try:
        arguments = json.loads(raw)
    except ValueError as error:
        return say(f"O JSON não pôde ser lido ({error}). {HOW}")
    if not isinstance(arguments, dict):
        return say(f"O JSON precisa ser um objeto. {HOW}")
    return call(name, arguments)
