"""What must hold whatever the model said, counted at the simulated WhatsApp and payment provider.

Every key of the product names its action, on a message (`action:<id>:...`) as at the provider (the
id itself), so whoever sees both sides from outside can tell which click an effect belongs to.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from simulators.live.scenes import NAMES
from simulators.payments.client import PaymentsSimulatorClient
from simulators.whatsapp.client import WhatsAppSimulatorClient
from simulators.whatsapp.models import ChatMessage

NO_EFFECT_WITHOUT_A_CLICK = "no effect without a click"
NOTHING_TWICE = "nothing twice"
ANSWERED = "every message is answered"
ONE_AT_A_TIME = "one proposal at a time"
ANOTHERS_PRESS = "another's press does nothing"
_TOLD = re.compile(r"action:([0-9a-f]{32}):(?:feedback\d*|verifying)")
_BUTTON = re.compile(r"pa:(?:confirm|cancel):([0-9a-f]{32})")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the far side has seen until now. `effects`: the key of each at the provider; `told`:
    the key of each message about an outcome."""

    effects: list[str]
    told: list[str]


@dataclass
class Clicks:
    """The ids of the actions that their own person confirmed or cancelled."""

    confirmed: set[str] = field(default_factory=set)
    cancelled: set[str] = field(default_factory=set)


async def look(whatsapp: WhatsAppSimulatorClient, payments: PaymentsSimulatorClient) -> Seen:
    """Ask both simulators."""
    chats = [await whatsapp.messages(person, author="business") for person in NAMES]
    keys = [message.callback_data or "" for chat in chats for message in chat]
    return Seen(
        effects=[str(effect["key"]) for effect in await payments.effects()],
        told=[key for key in keys if _TOLD.fullmatch(key)],
    )


def without_a_click(seen: Seen, clicks: Clicks) -> list[str]:
    """The actions with an effect at the provider, or with a word about an outcome, that nobody
    decided on. A cancelled one may have a word, never an effect."""
    decided = clicks.confirmed | clicks.cancelled
    told = {match[1] for key in seen.told if (match := _TOLD.fullmatch(key))}
    return sorted((set(seen.effects) - clicks.confirmed) | (told - decided))


def twice(seen: Seen) -> list[str]:
    """The keys that the provider acted on, or that a message went out under, more than once."""
    counted = [Counter(seen.effects), Counter(seen.told)]
    return sorted(key for counts in counted for key, times in counts.items() if times > 1)


def action_of(prompt: ChatMessage) -> str:
    """The id that a prompt's buttons carry. Raises ValueError for other buttons."""
    match = _BUTTON.fullmatch(prompt.buttons[0].id) if prompt.buttons else None
    if match is None:
        raise ValueError(f"message {prompt.seq} has no buttons that decide: {prompt.buttons!r}")
    return match[1]
