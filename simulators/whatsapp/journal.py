"""What the far side saw: every send received, every webhook posted, and the counters.

Promises such as "at most one message" are judged by these counts and not by the product's own
rows.
"""

from collections import deque

from simulators.whatsapp.models import Counters, SendRecord, WebhookRecord
from simulators.whatsapp.storage import Storage

KEPT_LINES = 50_000  # of each kind; a load run must not fill the memory


class Journal:
    """Lines in memory, counters also on disk."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.sends: deque[SendRecord] = deque(maxlen=KEPT_LINES)
        self.webhooks: deque[WebhookRecord] = deque(maxlen=KEPT_LINES)
        self.counters = storage.counters()
        self._seq = 0

    def next_seq(self) -> int:
        """Return the number of the next line; sends and webhooks share one order."""
        self._seq += 1
        return self._seq

    def clear(self) -> None:
        """Forget lines and counters."""
        self.sends.clear()
        self.webhooks.clear()
        self.counters = Counters()

    def send_received(self, record: SendRecord) -> None:
        """Note a POST to the messages endpoint."""
        self.sends.append(record)
        if record.kind == "message":
            self.counters.sends_received += 1
            self._storage.save_counters(self.counters)

    def send_accepted(self, person_id: str, *, prompt: bool) -> None:
        """Count a message that was accepted for a person."""
        self.counters.sends_accepted += 1
        _count(self.counters.accepted_by_person, person_id)
        if prompt:
            _count(self.counters.prompts_by_person, person_id)
        self._storage.save_counters(self.counters)

    def pressed(self, button_id: str) -> None:
        """Count one press of a button by anyone."""
        self.counters.presses += 1
        _count(self.counters.presses_by_button, button_id)
        self._storage.save_counters(self.counters)

    def webhook_started(self, *, click: bool) -> None:
        """Count a webhook POST before it leaves, so that an unanswered one counts too."""
        self.counters.webhook_posts += 1
        if click:
            self.counters.click_deliveries += 1
        self._storage.save_counters(self.counters)


def _count(counts: dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1
