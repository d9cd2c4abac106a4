"""The simulated provider in Stripe's dialect behaves as Stripe is described."""

from typing import Any

import httpx
import pytest

from tests.unit.simulators.payments_far_side import KEY, counters, provider

INTENTS = "/v1/payment_intents"


def form(amount: int = 15_000, **changes: Any) -> dict[str, str]:
    fields = {
        "amount": str(amount),
        "currency": "brl",
        "confirm": "true",
        "payment_method_types[]": "pix",
        "payment_method_data[type]": "pix",
        "payment_method_options[pix][expires_after_seconds]": "600",
        "metadata[aval_action]": KEY,
    }
    return {**fields, **changes}


async def post(
    http: httpx.AsyncClient, path: str, data: dict[str, str], key: str | None = KEY
) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await http.post(path, data=data, headers=headers)


async def search(http: httpx.AsyncClient, value: str = KEY) -> list[dict[str, Any]]:
    query = {"query": f"metadata['aval_action']:'{value}'"}
    found: list[dict[str, Any]] = (await http.get(f"{INTENTS}/search", params=query)).json()["data"]
    return found


async def test_a_repeat_is_replayed_and_says_so() -> None:
    """The first answer word for word, with the header; one effect."""
    async with provider() as http:
        first, second = await post(http, INTENTS, form()), await post(http, INTENTS, form())
        assert second.json() == first.json()
        assert "idempotent-replayed" not in first.headers
        assert second.headers["idempotent-replayed"] == "true"
        assert first.headers["request-id"] != second.headers["request-id"]
        assert (await counters(http))["effects_by_key"] == {KEY: 1}


@pytest.mark.parametrize("path", [INTENTS, "/v1/payouts"])
async def test_a_key_with_other_parameters_is_refused(path: str) -> None:
    """400 `idempotency_error`, also for another path; the first answer stays."""
    async with provider() as http:
        first = await post(http, INTENTS, form())
        data = form(99) if path == INTENTS else {"amount": "5", "currency": "brl"}
        other = await post(http, path, data)
        assert (other.status_code, other.json()["error"]["type"]) == (400, "idempotency_error")
        assert (await post(http, INTENTS, form())).json() == first.json()
        assert (await counters(http))["effects_total"] == 1


async def test_a_500_is_kept_and_replayed() -> None:
    """It acted, answered 500, and answers 500 for as long as the key lives."""
    async with provider() as http:
        await http.post("/admin/faults", json={"kind": "act_500"})
        first, second = await post(http, INTENTS, form()), await post(http, INTENTS, form())
        assert (first.status_code, second.status_code) == (500, 500)
        assert second.headers["idempotent-replayed"] == "true"
        assert (await counters(http))["effects_by_key"] == {KEY: 1}


async def test_a_refusal_before_execution_is_not_kept() -> None:
    """A corrected request under the same key acts."""
    async with provider() as http:
        refused = await post(http, INTENTS, form(currency="usd"))
        assert refused.status_code == 400
        assert (await post(http, INTENTS, form())).status_code == 200


async def test_past_the_retention_the_same_key_acts_again() -> None:
    """24 hours and no more; the second effect is counted as a duplicate."""
    async with provider() as http:
        await post(http, INTENTS, form())
        await http.post("/admin/clock", json={"advance_seconds": 24 * 3600 + 1})
        await post(http, INTENTS, form())
        assert (await counters(http))["duplicates"] == 1


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"amount": "150.00"}, "amount"),
        ({"amount": "0"}, "amount"),
        ({"amount": "-5"}, "amount"),
        ({"surprise": "1"}, "surprise"),
        ({"confirm": "false"}, "payment_method_types"),
        ({"payment_method_types[]": "card"}, "payment_method_types"),
        ({"metadata[x]": "y" * 501}, "metadata"),
    ],
)
async def test_what_stripe_would_refuse_is_refused(changes: dict[str, Any], param: str) -> None:
    """Unknown names, odd amounts and long metadata: 400 that names the field, no effect."""
    async with provider() as http:
        answer = await post(http, INTENTS, form(**changes))
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
        assert (await counters(http))["effects_total"] == 0


async def test_the_search_is_a_minute_behind_the_list() -> None:
    """The list shows it at once; the search only later, and only by the asked value."""
    async with provider() as http:
        await post(http, INTENTS, form())
        assert len((await http.get(INTENTS)).json()["data"]) == 1
        assert await search(http) == []
        await http.post("/admin/clock", json={"advance_seconds": 61})
        assert len(await search(http)) == 1
        assert await search(http, "b" * 32) == []


async def test_lists_are_read_on_by_a_cursor_and_cut_by_time() -> None:
    """Newest first, `has_more` until the end; `created[gte]` leaves older ones out."""
    async with provider() as http:
        for number in range(3):
            await post(http, INTENTS, form(100 + number), key=None)
        first = (await http.get(INTENTS, params={"limit": 2})).json()
        last = first["data"][-1]["id"]
        rest = (await http.get(INTENTS, params={"limit": 2, "starting_after": last})).json()
        assert [doc["amount"] for doc in first["data"] + rest["data"]] == [102, 101, 100]
        assert (first["has_more"], rest["has_more"]) == (True, False)
        late = str(first["data"][0]["created"] + 1)
        assert (await http.get(INTENTS, params={"created[gte]": late})).json()["data"] == []


async def test_an_expired_intent_goes_back_to_where_it_was() -> None:
    """`requires_payment_method` with the error of an expired attempt, and it cannot be paid."""
    async with provider() as http:
        intent = (await post(http, INTENTS, form())).json()
        await http.post("/admin/clock", json={"advance_seconds": 601})
        shown = (await http.get(f"{INTENTS}/{intent['id']}")).json()
        assert (shown["status"], shown["next_action"]) == ("requires_payment_method", None)
        assert shown["last_payment_error"]["code"] == "payment_intent_payment_attempt_expired"
        assert (await http.post(f"/admin/pay/{intent['id']}")).status_code == 409


async def test_a_charge_of_no_dialect_cannot_be_paid() -> None:
    """404, whichever dialect would have it."""
    async with provider() as http:
        assert (await http.post("/admin/pay/none")).status_code == 404


async def test_bearer_and_basic_are_both_taken_and_others_refused() -> None:
    """401 in Stripe's shape for a wrong key."""
    async with provider(headers={}) as http:
        for header, status in (("Bearer sk", 200), ("Basic c2s6", 200), ("Bearer no", 401)):
            answer = await http.get("/v1/balance", headers={"Authorization": header})
            assert answer.status_code == status
        assert answer.json()["error"]["type"] == "invalid_request_error"
