"""The simulated provider behaves as Pagar.me is described, and counts what it really did."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from simulators.payments import PaymentsSimulatorConfig
from tests.unit.simulators.payments_far_side import CONFIG, KEY, counters, create, order, provider

RECIPIENT = "/core/v5/recipients/re_simulated"


async def refund(http: httpx.AsyncClient, charge: str, amount: int, key: str) -> httpx.Response:
    return await http.request(
        "DELETE",
        f"/core/v5/charges/{charge}",
        json={"amount": amount},
        headers={"Idempotency-Key": key},
    )


async def test_an_order_comes_with_a_pix_charge() -> None:
    """Order, charge, transaction and a code that names the amount."""
    async with provider() as http:
        doc = (await create(http)).json()
        charge = doc["charges"][0]
        transaction = charge["last_transaction"]
        assert (doc["code"], doc["amount"], doc["status"]) == (KEY, 15_000, "pending")
        assert charge["status"] == "pending"
        assert transaction["qr_code"].startswith("000201")
        assert "5406150.00" in transaction["qr_code"]
        assert transaction["expires_at"].endswith("Z")
        image = await http.get(transaction["qr_code_url"])
        assert image.content.startswith(b"\x89PNG")


async def test_orders_are_found_by_code_and_id() -> None:
    """The two look-ups show the same order; another code shows nothing."""
    async with provider() as http:
        doc = (await create(http)).json()
        listed = (await http.get("/core/v5/orders", params={"code": KEY})).json()
        assert listed == {"data": [doc], "paging": {"total": 1}}
        assert (await http.get(f"/core/v5/orders/{doc['id']}")).json() == doc
        other = (await http.get("/core/v5/orders", params={"code": "b" * 32})).json()
        assert other["data"] == []


async def test_a_page_holds_at_most_thirty_newest_first() -> None:
    """More than 30 orders go on to the next page."""
    async with provider() as http:
        for number in range(32):
            await create(http, key=f"{number:032x}", amount=100 + number)
        first = (await http.get("/core/v5/orders", params={"size": 100})).json()
        second = (await http.get("/core/v5/orders", params={"size": 30, "page": 2})).json()
        assert [doc["amount"] for doc in first["data"]] == list(range(131, 101, -1))
        assert [doc["amount"] for doc in second["data"]] == [101, 100]
        assert first["paging"]["total"] == 32


async def test_a_repeated_key_is_replayed_without_comparing() -> None:
    """Same key, other body: the first answer, no second effect."""
    async with provider() as http:
        first = await create(http)
        second = await create(http, amount=99)
        assert second.json() == first.json()
        assert (await counters(http))["effects_by_key"] == {KEY: 1}
        journal = (await http.get("/admin/journal")).json()["requests"]
        assert [entry["replayed"] for entry in journal] == [False, True]


async def test_after_the_retention_the_same_key_acts_again() -> None:
    """24 hours are kept and no more; the second effect is counted as a duplicate."""
    async with provider() as http:
        await create(http)
        await http.post("/admin/clock", json={"advance_seconds": 24 * 3600 - 60})
        await create(http)
        assert (await counters(http))["duplicates"] == 0
        await http.post("/admin/clock", json={"advance_seconds": 120})
        await create(http)
        assert (await counters(http))["duplicates"] == 1


async def test_a_second_key_for_the_same_business_is_counted() -> None:
    """A client that mints a new key is seen by who, what and how much."""
    async with provider() as http:
        await create(http)
        await create(http, key="b" * 32)
        seen = await counters(http)
        assert (seen["duplicates"], seen["business_duplicates"]) == (0, 1)


async def test_requests_without_key_are_effects_each() -> None:
    """Without the header nothing protects: two orders, under the code they bear."""
    async with provider() as http:
        await create(http, key=None)
        await create(http, key=None)
        seen = await counters(http)
        assert (seen["effects_total"], seen["duplicates"]) == (2, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"items": []},
        {"items": [{"amount": 1.5, "description": "x", "quantity": 1}]},
        {"items": [{"amount": True, "description": "x", "quantity": 1}]},
        {"items": [{"amount": 100, "description": "", "quantity": 1}]},
        {"customer": None},
        {"customer": {"name": "x"}},
        {"payments": [{"payment_method": "boleto"}]},
        {"payments": [{"payment_method": "pix", "pix": {}}]},
        {"payments": [{"payment_method": "pix", "pix": {"expires_in": 60}, "amount": 7}]},
        {"code": "x" * 53},
    ],
)
async def test_a_wrong_order_is_refused_and_its_key_stays_free(changes: dict[str, Any]) -> None:
    """422 names the fields; a corrected body under the same key then acts."""
    async with provider() as http:
        headers = {"Idempotency-Key": KEY}
        bad = await http.post("/core/v5/orders", json=order(**changes), headers=headers)
        assert bad.status_code == 422
        assert bad.json()["errors"]
        assert (await create(http)).status_code == 200
        assert (await counters(http))["effects_total"] == 1


async def test_what_is_no_json_is_refused() -> None:
    """400 in the provider's own shape."""
    async with provider() as http:
        for content in (b"", b"{", b"[]", b"\xff"):
            bad = await http.post("/core/v5/orders", content=content)
            assert (bad.status_code, "message" in bad.json()) == (400, True)


async def test_the_api_key_is_asked_for_everywhere() -> None:
    """No key, a wrong one or another scheme: 401 and no effect."""
    for headers in ({}, {"Authorization": "Basic c2s="}, {"Authorization": "Bearer sk"}):
        async with provider(headers={**headers, "X-Sim-Secret": "admin"}) as http:
            assert (await create(http)).status_code == 401
            for path in ("/core/v5/orders", "/core/v5/charges/x", f"{RECIPIENT}/balance"):
                assert (await http.get(path)).status_code == 401
            assert (await counters(http))["effects_total"] == 0


async def test_refunds_never_exceed_the_charge() -> None:
    """More than what is left is refused with 412, and so is all after it is used up."""
    async with provider() as http:
        charge = (await create(http)).json()["charges"][0]["id"]
        await http.post(f"/admin/pay/{charge}")
        assert (await refund(http, charge, 5_000, "1" * 32)).json()["status"] == "paid"
        assert (await refund(http, charge, 10_001, "4" * 32)).status_code == 412
        whole = (await refund(http, charge, 10_000, "2" * 32)).json()
        assert (whole["status"], whole["canceled_amount"]) == ("canceled", 15_000)
        for _ in range(2):
            assert (await refund(http, charge, 1, "3" * 32)).status_code == 412
        assert (await counters(http))["effects_by_operation"] == {"charge": 1, "refund": 2}


async def test_balance_follows_payment_refund_and_withdrawal() -> None:
    """100,000 + 15,000 − 5,000 − 700 cents."""
    async with provider() as http:
        charge = (await create(http)).json()["charges"][0]["id"]
        await http.post(f"/admin/pay/{charge}")
        await refund(http, charge, 5_000, "1" * 32)
        paid_out = await http.post(
            f"{RECIPIENT}/withdrawals", json={"amount": 700, "metadata": {"k": "v"}}
        )
        assert (paid_out.json()["status"], paid_out.json()["metadata"]) == (
            "transferred",
            {"k": "v"},
        )
        listed = (await http.get(f"{RECIPIENT}/withdrawals")).json()["data"]
        assert listed == [paid_out.json()]
        balance = (await http.get(f"{RECIPIENT}/balance")).json()
        assert balance["available_amount"] == 109_300
        too_much = await http.post(f"{RECIPIENT}/withdrawals", json={"amount": 109_301})
        assert too_much.status_code == 412


async def test_a_charge_is_paid_once_and_not_after_its_expiry() -> None:
    """The customer cannot pay twice, nor an expired or cancelled code."""
    async with provider() as http:
        charge = (await create(http)).json()["charges"][0]["id"]
        assert (await http.post(f"/admin/pay/{charge}")).json()["paid_amount"] == 15_000
        assert (await http.post(f"/admin/pay/{charge}")).status_code == 409
        late = (await create(http, key="b" * 32)).json()["charges"][0]["id"]
        await http.post("/admin/clock", json={"advance_seconds": 601})
        assert (await http.post(f"/admin/pay/{late}")).status_code == 409
        assert (await http.post("/admin/pay/ch_none")).status_code == 404


async def test_unknown_objects_are_404_in_the_own_shape() -> None:
    """Order, charge and recipient."""
    async with provider() as http:
        for path in (
            "/core/v5/orders/or_x",
            "/core/v5/charges/ch_x",
            "/core/v5/recipients/re_x/balance",
            "/core/v5/recipients/re_x/withdrawals",
        ):
            found = await http.get(path)
            assert (found.status_code, list(found.json())) == (404, ["message"])


@pytest.mark.parametrize("secret", [None, "", "right"])
async def test_admin_is_closed_without_the_secret(secret: str | None) -> None:
    """No secret configured means no admin at all; an empty header opens nothing."""
    config = PaymentsSimulatorConfig(api_key="sk", admin_secret=secret)
    for headers in ({}, {"X-Sim-Secret": ""}, {"X-Sim-Secret": "wrong"}):
        async with provider(config, headers=headers) as http:
            assert (await http.get("/admin/counters")).status_code == 403
            assert (await http.post("/admin/reset")).status_code == 403
            assert (await http.get("/healthz")).status_code == 200


async def test_state_is_kept_in_the_file_and_forgotten_by_reset(tmp_path: Path) -> None:
    """A second start on the file replays the key; reset empties it."""
    config = CONFIG.model_copy(update={"state": tmp_path / "state.sqlite"})
    async with provider(config) as http:
        first = (await create(http)).json()
    async with provider(config) as http:
        assert (await create(http)).json() == first
        assert (await counters(http))["effects_total"] == 1
        await http.post("/admin/reset")
        assert (await counters(http))["effects_total"] == 0
        assert (await http.get("/core/v5/orders")).json()["data"] == []
        assert (await create(http)).json()["id"] != first["id"]
