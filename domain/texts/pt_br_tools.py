"""Portuguese (Brazil): the bundled tools' summaries, feedback and reasons.

Order of lines: amounts stand before free text, so that no description can pose as one (design §4).
"""

from datetime import date

from domain.documents import document_kind, mask_document
from domain.money import format_brl
from domain.payload import Frozen, int_at, text_at, text_or_none_at
from domain.texts.contract import ReasonTexts, ToolTexts
from domain.texts.shared import local_time

_WEEKDAYS = ("seg.", "ter.", "qua.", "qui.", "sex.", "sáb.", "dom.")


def full_day(day: date) -> str:
    """`qui., 03/12/2026`: what does not change its meaning tomorrow."""
    return f"{_WEEKDAYS[day.weekday()]}, {day:%d/%m/%Y}"


def day_phrase(day: date, *, today: date) -> str:
    """`hoje`, `amanhã (ter., 01/12)` or `qui., 03/12/2026`."""
    days_ahead = (day - today).days
    if days_ahead == 0:
        return "hoje"
    if days_ahead == 1:
        return f"amanhã ({_WEEKDAYS[day.weekday()]}, {day:%d/%m})"
    return full_day(day)


def _asked_time(payload: Frozen, key: str, today: date) -> str:
    local = local_time(payload, key)
    return f"{day_phrase(local.date(), today=today)} às {local:%H:%M}"


def _stated_time(payload: Frozen, key: str) -> str:
    local = local_time(payload, key)
    return f"{full_day(local.date())} às {local:%H:%M}"


def _customer(payload: Frozen) -> str:
    name = text_at(payload, "customer_name")
    document = text_or_none_at(payload, "document")
    if document is None:
        return f"Cliente: {name}"
    return f"Cliente: {name} ({document_kind(document)} {mask_document(document)})"


class PtBrTools(ToolTexts):
    """Summaries to confirm and feedback once done."""

    def charge_summary(self, payload: Frozen, *, today: date) -> str:
        """The golden text of the payments prompt begins with these lines."""
        due = date.fromisoformat(text_at(payload, "due_date"))
        lines = [
            "Gerar cobrança Pix",
            _customer(payload),
            f"Valor: {format_brl(int_at(payload, 'amount_cents'))}",
            f"Vencimento: {day_phrase(due, today=today)}",
        ]
        description = text_or_none_at(payload, "description")
        return "\n".join([*lines, f"Descrição: {description}"] if description else lines)

    def charge_done(self, payload: Frozen, result: Frozen) -> list[str]:
        """The feedback, then the Pix code alone: a message that can be copied whole."""
        amount = format_brl(int_at(payload, "amount_cents"))
        done = f"Cobrança de {amount} gerada para {text_at(payload, 'customer_name')}."
        code = text_or_none_at(result, "pix_code")
        if not code:
            return [f"{done} O provedor ainda não devolveu o código Pix."]
        return [f"{done} Segue o código Pix para copiar e colar:", code]

    def charge_default_description(self) -> str:
        """What the provider prints when nobody described the charge."""
        return "Cobrança"

    def refund_summary(self, payload: Frozen) -> str:
        """Which charge, how much of how much, whose."""
        amount = format_brl(int_at(payload, "amount_cents"))
        whole = format_brl(int_at(payload, "charge_amount_cents"))
        lines = [
            "Estornar cobrança",
            f"Cobrança: nº {int_at(payload, 'charge_id')}, de {whole}",
            f"Valor do estorno: {amount}",
        ]
        before = int_at(payload, "refunded_before_cents")
        if before:
            lines.append(f"Já estornado antes: {format_brl(before)}")
        return "\n".join([*lines, _customer(payload)])

    def refund_done(self, payload: Frozen) -> list[str]:
        """One line with amount, charge and customer."""
        amount = format_brl(int_at(payload, "amount_cents"))
        charge, name = int_at(payload, "charge_id"), text_at(payload, "customer_name")
        return [f"Estorno de {amount} da cobrança nº {charge} feito. Cliente: {name}."]

    def transfer_summary(self, payload: Frozen) -> str:
        """How much, and to which registered account."""
        amount = format_brl(int_at(payload, "amount_cents"))
        return f"Transferir saldo\nValor: {amount}\nDestino: {self._destination(payload)}"

    def transfer_done(self, payload: Frozen) -> list[str]:
        """One line with amount and destination."""
        amount = format_brl(int_at(payload, "amount_cents"))
        return [f"Transferência de {amount} feita. Destino: {self._destination(payload)}."]

    def _destination(self, payload: Frozen) -> str:
        return f"{text_at(payload, 'recipient_name')} (conta cadastrada)"

    def booking_summary(self, payload: Frozen, *, today: date) -> str:
        """Who, with whom, when, how long."""
        return "\n".join(
            [
                "Marcar horário",
                _customer(payload),
                f"Profissional: {text_at(payload, 'professional_name')}",
                f"Quando: {_asked_time(payload, 'starts_at', today)}",
                f"Duração: {int_at(payload, 'minutes')} min",
            ]
        )

    def booking_done(self, payload: Frozen) -> list[str]:
        """The day in full: this message is read again tomorrow."""
        when, name = _stated_time(payload, "starts_at"), text_at(payload, "professional_name")
        return [f"Horário marcado: {when}, com {name}. Cliente: {payload['customer_name']}."]

    def reschedule_summary(self, payload: Frozen, *, today: date) -> str:
        """From when to when."""
        return "\n".join(
            [
                "Remarcar horário",
                _customer(payload),
                f"Profissional: {text_at(payload, 'professional_name')}",
                f"De: {_asked_time(payload, 'old_starts_at', today)}",
                f"Para: {_asked_time(payload, 'starts_at', today)}",
                f"Duração: {int_at(payload, 'minutes')} min",
            ]
        )

    def reschedule_done(self, payload: Frozen) -> list[str]:
        """The new time, in full."""
        when, name = _stated_time(payload, "starts_at"), text_at(payload, "professional_name")
        return [f"Horário remarcado: {when}, com {name}. Cliente: {payload['customer_name']}."]

    def cancel_booking_summary(self, payload: Frozen, *, today: date) -> str:
        """Which booking goes."""
        return "\n".join(
            [
                "Desmarcar horário",
                _customer(payload),
                f"Profissional: {text_at(payload, 'professional_name')}",
                f"Quando: {_asked_time(payload, 'starts_at', today)}",
            ]
        )

    def cancel_booking_done(self, payload: Frozen) -> list[str]:
        """Which booking is gone, in full."""
        when, name = _stated_time(payload, "starts_at"), text_at(payload, "professional_name")
        return [f"Horário desmarcado: {when}, com {name}. Cliente: {payload['customer_name']}."]

    def email_summary(self, payload: Frozen) -> str:
        """The address before, if there is one, and the new one."""
        old = text_or_none_at(payload, "old_email")
        lines = ["Atualizar e-mail", _customer(payload)]
        if old:
            lines.append(f"E-mail atual: {old}")
        return "\n".join([*lines, f"Novo e-mail: {text_at(payload, 'email')}"])

    def email_done(self, payload: Frozen) -> list[str]:
        """The address that now stands."""
        email, name = text_at(payload, "email"), text_at(payload, "customer_name")
        return [f"E-mail atualizado para {email}. Cliente: {name}."]


class PtBrReasons(ReasonTexts):
    """Why something is no longer possible."""

    def customer_gone(self) -> str:
        """No such customer any more, or no longer this person's."""
        return "o cadastro do cliente não foi encontrado"

    def customer_blocked(self) -> str:
        """Blocked since the question."""
        return "o cliente foi bloqueado"

    def customer_changed(self) -> str:
        """A printed name or document changed."""
        return "os dados do cliente mudaram depois do pedido"

    def email_changed(self) -> str:
        """The address that the prompt called the present one changed."""
        return "o e-mail do cliente mudou depois do pedido"

    def slot_taken(self) -> str:
        """Somebody else was faster."""
        return "esse horário acabou de ser ocupado"

    def slot_past(self) -> str:
        """The time came while the question stood."""
        return "esse horário já passou"

    def professional_changed(self) -> str:
        """Renamed, gone, or with other hours."""
        return "os dados ou o expediente do profissional mudaram depois do pedido"

    def booking_changed(self) -> str:
        """Moved or cancelled meanwhile."""
        return "esse agendamento mudou ou foi desmarcado depois do pedido"

    def due_date_past(self) -> str:
        """Midnight passed."""
        return "a data de vencimento já passou"

    def charge_changed(self) -> str:
        """Refunded, or otherwise changed, meanwhile."""
        return "a cobrança mudou depois do pedido (pode já ter sido estornada)"

    def balance_short(self) -> str:
        """The balance does not cover it any more."""
        return "o saldo disponível não cobre mais esse valor"

    def recipient_changed(self) -> str:
        """The registered account changed."""
        return "a conta de destino mudou depois do pedido"
