"""Asaas' error shape."""

from simulators.payments.replies import RefusedError, Reply
from simulators.payments.state import Doc

WORDS = {
    400: ("invalid_action", "A requisição é inválida."),
    401: ("invalid_access_token", "A chave de API fornecida é inválida."),
    403: ("forbidden", "Você não possui permissão para utilizar este recurso."),
    404: ("not_found", "Recurso não encontrado."),
    429: ("too_many_requests", "Limite de requisições atingido."),
    500: ("internal_error", "Ocorreu um erro inesperado."),
    503: ("unavailable", "Serviço indisponível."),
}


def general(status: int) -> Reply:
    """Return the refusal that goes with this status."""
    code, description = WORDS.get(status, ("error", f"Status {status}."))
    return Reply(status, error_doc(code, description))


def refuse(status: int, code: str, description: str) -> RefusedError:
    """Return the error to raise."""
    return RefusedError(Reply(status, error_doc(code, description)), description)


def error_doc(code: str, description: str) -> Doc:
    """Return {errors: [{code, description}]}."""
    return {"errors": [{"code": code, "description": description}]}
