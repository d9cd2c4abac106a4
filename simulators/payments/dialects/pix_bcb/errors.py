"""Error shapes: Efí's own {nome, mensagem}, the specification's problem, and OAuth's for tokens."""

from simulators.payments.replies import RefusedError, Reply
from simulators.payments.state import Doc

PROBLEMS = "https://pix.bcb.gov.br/api/v2/error/"
NAMES = {
    400: ("valor_invalido", "Requisição inválida"),
    404: ("nao_encontrado", "Recurso não encontrado"),
    409: ("txid_duplicado", "Campo txid informado já foi utilizado em outra cobrança"),
    422: ("pagamento_negado", "Pagamento negado por análises"),
    429: ("limite_de_requisicoes", "Limite de requisições atingido"),
    500: ("erro_aplicacao", "Ocorreu um erro"),
}


def general(status: int) -> Reply:
    """Return the refusal that goes with this status."""
    if status == 401:
        return Reply(401, {"error": "invalid_token", "error_description": "Token inválido"})
    if status == 403:
        return Reply(403, problem_doc(403, "AcessoNegado", "Acesso Negado"))
    if status == 503:
        return Reply(503, problem_doc(503, "ServicoIndisponivel", "Serviço Indisponível"))
    name, message = NAMES.get(status, ("erro_aplicacao", f"Status {status}"))
    return Reply(status, {"nome": name, "mensagem": message})


def refuse(status: int, name: str, message: str) -> RefusedError:
    """Return the error to raise in Efí's own shape."""
    return RefusedError(Reply(status, {"nome": name, "mensagem": message}), message)


def problem(status: int, kind: str, title: str, detail: str) -> RefusedError:
    """Return the error to raise as the specification has it."""
    return RefusedError(
        Reply(status, {**problem_doc(status, kind, title), "detail": detail}), title
    )


def problem_doc(status: int, kind: str, title: str) -> Doc:
    """Return {type, title, status}."""
    return {"type": PROBLEMS + kind, "title": title, "status": status}
