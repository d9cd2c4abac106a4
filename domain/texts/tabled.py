"""What a language says by looking it up in its own tables: the same in every language but for the
words, so it stands here once."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from domain.actions import CloseReason, Status
from domain.texts import shared
from domain.texts.contract import ActionFact, Texts


class TabledTexts(Texts):
    """A language with its tables; `{what}` stands for the action, `{detail}` for a reason."""

    closings: ClassVar[Mapping[CloseReason, str | None]]
    late_confirms: ClassVar[Mapping[Status, str]]
    late_cancels: ClassVar[Mapping[Status, str]]
    fact_words: ClassVar[shared.FactWords]

    def with_reference(self, text: str, *, action_id: str) -> str:
        """The text and a last line `(ref. 9b1c2d)`."""
        return shared.referred(text, action_id)

    def closed(self, reason: CloseReason, *, detail: str | None = None) -> str | None:
        """By the table; the detail on one line, without markup, after a colon."""
        return shared.with_detail(self.closings[reason], detail)

    def late_confirm(self, status: Status, *, summary: str, action_id: str) -> str:
        """One short answer per outcome."""
        return self.late_confirms[status].replace("{what}", shared.named(summary, action_id))

    def late_cancel(self, status: Status, *, summary: str, action_id: str) -> str:
        """One short answer per outcome."""
        return self.late_cancels[status].replace("{what}", shared.named(summary, action_id))

    def facts_text(self, facts: Sequence[ActionFact]) -> str:
        """Under a head that names the ledger."""
        return shared.facts_text(facts, self.fact_words)
