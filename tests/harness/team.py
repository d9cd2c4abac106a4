"""What the business's own people do beside Aval: they write from another device."""

import time
import uuid
from typing import Any

from tests.harness.stack import NUMBER, Stack

MARIA_DIALLED = "+5511988880001"


async def write_as_team(
    stack: Stack,
    text: str,
    *,
    to: str = MARIA_DIALLED,
    wamid: str | None = None,
    ago: float = 0,
    field: str = "smb_message_echoes",
    **fields: Any,
) -> str:
    """A human of the business wrote `text` to a number, as Meta echoes it; its id. `ago`: seconds
    by Meta's clock."""
    message = {
        "from": "551140000000",
        "to": to,
        "id": wamid or f"wamid.{uuid.uuid4().hex}",
        "timestamp": str(int(time.time() + stack.skew - ago)),
        "type": "text",
        "text": {"body": text},
        **fields,
    }
    status = await stack.whatsapp.post_raw_body(body=envelope(field, "message_echoes", message))
    assert status == 200
    return str(message["id"])


def envelope(field: str, name: str, element: dict[str, Any]) -> dict[str, Any]:
    """The whole body of a webhook with one element."""
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "551140000000", "phone_number_id": NUMBER},
        name: [element],
    }
    changes = [{"field": field, "value": value}]
    entry = {"id": "200300400500600", "changes": changes}
    return {"object": "whatsapp_business_account", "entry": [entry]}
