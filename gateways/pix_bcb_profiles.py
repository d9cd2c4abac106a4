"""What banks make of the Central Bank's API Pix, as data.

The trap: one specification, and every bank answers "not found" and "known already" in its own way.
An adapter that takes any 400 for an absence would call a refused request "not done". What stands
here is documented for the bank; a bank without a profile cannot be configured. Source: facts,
payments §1 and §7.
"""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from domain.outcomes import Operation
from gateways.config import Mode

PROBLEM_TYPES = "https://pix.bcb.gov.br/api/"
"""How the `type` of an error of the specification (RFC 7807) begins."""


class Profile(BaseModel):
    """One bank's API Pix."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    base_urls: Mapping[Mode, str]
    oauth_path: str
    charges: str
    """Path before the txid."""
    received: str
    """Path of received Pix, before the e2eid; refunds stand below."""
    sends: str
    """Path before the id of a Pix that is sent; the bank's own, not of the specification."""
    sent: str
    """Path for looking a sent Pix up, before its id."""
    balance: str
    absent: Mapping[Operation, frozenset[tuple[int, str]]]
    """Status and error name that together say "there is none". Anything else does not."""
    duplicate: frozenset[str]
    """Errors that say the key was used already, by whatever."""
    own_trouble: frozenset[str]
    """Errors of the bank's own, which prove nothing."""


EFI = Profile(
    name="efi",
    base_urls={
        "sandbox": "https://pix-h.api.efipay.com.br",
        "live": "https://pix.api.efipay.com.br",
    },
    oauth_path="/oauth/token",
    charges="/v2/cob/",
    received="/v2/pix/",
    sends="/v2/gn/pix/",
    sent="/v2/gn/pix/enviados/id-envio/",
    balance="/v2/gn/saldo",
    absent={
        "charge": frozenset({(400, "cobranca_nao_encontrada")}),
        "refund": frozenset({(400, "devolucao_nao_encontrada"), (400, "pix_nao_encontrado")}),
        "transfer": frozenset({(404, "PixEnviadoNaoEncontrado")}),
    },
    duplicate=frozenset({"txid_duplicado", "devolucao_id_duplicado", "id_envio_duplicado"}),
    own_trouble=frozenset({"erro_aplicacao"}),
)

PROFILES: Mapping[str, Profile] = {EFI.name: EFI}
