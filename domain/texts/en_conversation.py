"""English: handing over to a human, and for which account a member works."""

from collections.abc import Sequence

from domain.texts.contract import ConversationTexts
from domain.texts.shared import numbered


class EnConversation(ConversationTexts):
    """What is said about the conversation itself."""

    def nothing_known(self) -> str:
        """No action, so nothing can have been done."""
        return (
            "I have not done anything yet: no request is recorded in this chat. What do you need?"
        )

    def hand_over_summary(self) -> str:
        """What the person asked for."""
        return "Talk to a human"

    def human_coming(self) -> str:
        """No promise of a time: only that the agent is silent until then."""
        return (
            "Okay. Someone from our team will answer here. Until then I won't answer "
            "your messages, but the buttons of open requests still work."
        )

    def which_account(self, names: Sequence[str]) -> str:
        """The question, the accounts by number, and how to answer and change it."""
        how = (
            "Reply with the number or the name. To change it later, write: "
            + self.change_account_words()
        )
        return f"Which account is this for?\n{numbered(names)}\n\n{how}."

    def account_chosen(self, name: str) -> str:
        """Said if nothing else waits for an answer."""
        return f"Okay, from now on this is for {name}. What do you need?"

    def account_line(self, name: str) -> str:
        """The last line of a summary."""
        return f"Account: {name}"

    def change_account_words(self) -> str:
        """What a person writes to be asked again."""
        return "change account"
