"""The business's own books, read before and after: which booking came, moved or went, which address
changed. A change is an effect like any at the provider."""

from dataclasses import dataclass, field
from typing import Any

from store.connection import Connection
from tests.integration.lying.ground import Ground
from tests.integration.lying.records import Changed, promise
from tests.integration.lying.wires import Scene

ALONE = "nothing of another account is changed"

_ROWS = """
SELECT 'booking' AS what, b.account_id, b.id, c.name AS customer, p.name AS professional,
    b.starts_at, b.cancelled_at IS NOT NULL AS gone, b.action_id, NULL::text AS email
FROM bookings b JOIN customers c ON c.id = b.customer_id
JOIN professionals p ON p.id = b.professional_id WHERE b.account_id = ANY($1)
UNION ALL
SELECT 'email', account_id, id, name, NULL, NULL, false, NULL, coalesce(email, '')
FROM customers WHERE account_id = ANY($1)
UNION ALL
SELECT 'charge', account_id, id, NULL, NULL, NULL, false, action_id, provider_ref
FROM charges WHERE account_id = ANY($1)
"""

Row = dict[str, Any]


@dataclass
class BookKeeper:
    """The rows as they were read last."""

    rows: dict[tuple[str, int], Row] = field(default_factory=dict)
    read_once: bool = False

    async def read(self, db: Connection, ground: Ground, scene: Scene) -> None:
        """Read again, and record what changed since."""
        found = await db.fetch(_ROWS, [ground.account, ground.other_account])
        rows = {(row["what"], row["id"]): dict(row) for row in found}
        if self.read_once:
            for key, row in rows.items():
                self._changed(self.rows.get(key), row, ground, scene)
            promise(ALONE, kept=rows.keys() >= self.rows.keys(), detail="a row is gone")
        self.rows, self.read_once = rows, True
        _tell(rows, ground)

    def _changed(self, old: Row | None, new: Row, ground: Ground, scene: Scene) -> None:
        if old == new or new["what"] == "charge":
            return
        own = new["account_id"] == ground.account
        promise(ALONE, kept=own, detail=(old, new))
        scene.counted["effects in the books"] += 1
        scene.far.add(
            Changed(
                at=scene.now,
                account=new["account_id"],
                title=_title(old, new),
                about=_about(old, new),
                key=new["action_id"] if old is None else None,
            )
        )


def _title(old: Row | None, new: Row) -> str:
    if new["what"] == "email":
        return "Atualizar e-mail"
    if old is None:
        return "Marcar horário"
    return "Desmarcar horário" if new["gone"] else "Remarcar horário"


def _about(old: Row | None, new: Row) -> dict[str, str]:
    if new["what"] == "email":
        assert old is not None
        return {"customer": new["customer"], "email": new["email"], "old": old["email"]}
    times = {"starts_at": new["starts_at"].isoformat()}
    if old is not None:
        times["old_starts_at"] = old["starts_at"].isoformat()
    return {"customer": new["customer"], "professional": new["professional"], **times}


def _tell(rows: dict[tuple[str, int], Row], ground: Ground) -> None:
    """What the liar may name, and the provider's ids of the charges."""
    own = [row for row in rows.values() if row["account_id"] == ground.account]
    charges = [row for row in own if row["what"] == "charge"]
    ground.books.refs = {row["id"]: row["email"] for row in charges}
    for who, known in ground.known.items():
        if who == "olga":
            continue
        known.charges = sorted(row["id"] for row in charges)
        bookings = [row for row in own if row["what"] == "booking" and not row["gone"]]
        mine = [row for row in bookings if who == "maria" or row["customer"] == "Carlos Lima"]
        known.bookings = sorted(row["id"] for row in mine)
    theirs = [row for row in rows.values() if row["account_id"] == ground.other_account]
    for row in theirs:
        if row["what"] == "charge":
            for known in ground.known.values():
                known.foreign["charge"] = row["id"]
