"""Frozen columns that change although nothing of the product changes them: a script by hand, a
restored page. Triggers are off meanwhile."""

from store.connection import Connection

CHANGES = {
    "amount in the request": (
        "request = jsonb_set(request, '{body}',"
        " to_jsonb(regexp_replace(request ->> 'body', '\"amount\":[0-9]+', '\"amount\":999', 'g')))"
        " WHERE request IS NOT NULL AND id = $1"
    ),
    "name in the request": (
        "request = jsonb_set(request, '{body}',"
        " to_jsonb(replace(request ->> 'body', 'João Silva', 'Nilo Bloch')))"
        " WHERE request IS NOT NULL AND id = $1"
    ),
    "address in the payload": (
        "payload = jsonb_set(payload, '{email}', '\"ladrao@exemplo.com.br\"')"
        " WHERE payload ? 'email' AND id = $1"
    ),
    "time in the payload": (
        'payload = payload || \'{"starts_at": "2026-04-20T17:00:00Z"}\''
        " WHERE payload ? 'starts_at' AND id = $1"
    ),
}


async def change(db: Connection, action: str, what: str) -> None:
    """Change it, for an action that has such a column."""
    await db.execute("SET session_replication_role = replica")
    try:
        await db.execute(f"UPDATE actions SET {CHANGES[what]}", action)
    finally:
        await db.execute("SET session_replication_role = origin")
