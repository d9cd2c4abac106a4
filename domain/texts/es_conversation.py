"""Spanish: handing over to a human, and for which account a member works."""

from collections.abc import Sequence

from domain.texts.contract import ConversationTexts
from domain.texts.shared import numbered


class EsConversation(ConversationTexts):
    """What is said about the conversation itself."""

    def nothing_known(self) -> str:
        """No action, so nothing can have been done."""
        return (
            "Todavía no hice nada: "
            "no hay ninguna solicitud registrada en esta conversación. ¿Qué necesitas?"
        )

    def hand_over_summary(self) -> str:
        """What the person asked for."""
        return "Hablar con una persona"

    def human_coming(self) -> str:
        """No promise of a time: only that the agent is silent until then."""
        return (
            "De acuerdo. Alguien del equipo te va a responder por aquí. Hasta entonces no "
            "respondo tus mensajes, pero los botones de las solicitudes abiertas siguen activos."
        )

    def which_account(self, names: Sequence[str]) -> str:
        """The question, the accounts by number, and how to answer and change it."""
        how = (
            "Responde con el número o el nombre. Para cambiarla después, escribe: "
            + self.change_account_words()
        )
        return f"¿Para qué cuenta es?\n{numbered(names)}\n\n{how}."

    def account_chosen(self, name: str) -> str:
        """Said if nothing else waits for an answer."""
        return f"De acuerdo, desde ahora es para {name}. ¿Qué necesitas?"

    def account_line(self, name: str) -> str:
        """The last line of a summary."""
        return f"Cuenta: {name}"

    def change_account_words(self) -> str:
        """What a person writes to be asked again."""
        return "cambiar de cuenta"
