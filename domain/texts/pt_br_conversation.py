"""Portuguese (Brazil): handing over to a human, and for which account a member works."""

from collections.abc import Sequence

from domain.texts.contract import ConversationTexts
from domain.texts.shared import numbered


class PtBrConversation(ConversationTexts):
    """What is said about the conversation itself."""

    def nothing_known(self) -> str:
        """No action, so nothing can have been done."""
        return "Ainda não fiz nada: não há nenhum pedido registrado nesta conversa. O que precisa?"

    def hand_over_summary(self) -> str:
        """What the person asked for."""
        return "Falar com um atendente"

    def human_coming(self) -> str:
        """No promise of a time: only that the agent is silent until then."""
        return (
            "Certo. Uma pessoa da equipe vai responder por aqui. Até lá não respondo "
            "às suas mensagens, mas os botões dos pedidos em aberto continuam valendo."
        )

    def which_account(self, names: Sequence[str]) -> str:
        """The question, the accounts by number, and how to answer and change it."""
        how = (
            "Responda com o número ou o nome. Para mudar depois, escreva: "
            + self.change_account_words()
        )
        return f"Para qual conta é?\n{numbered(names)}\n\n{how}."

    def account_chosen(self, name: str) -> str:
        """Said if nothing else waits for an answer."""
        return f"Certo, a partir de agora é para {name}. O que precisa?"

    def account_line(self, name: str) -> str:
        """The last line of a summary."""
        return f"Conta: {name}"

    def change_account_words(self) -> str:
        """What a person writes to be asked again."""
        return "trocar de conta"
