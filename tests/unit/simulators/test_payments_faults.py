"""Faults hit the requests they are ordered for, act or do not act as they say, and run out."""

import asyncio
import binascii
from typing import Any

import httpx
import pytest

from simulators.payments.brcode import render
from simulators.payments.faults import Fault, FaultBook, FaultKind
from tests.unit.simulators.payments_far_side import KEY, counters, create, provider


async def order_fault(http: httpx.AsyncClient, **fault: Any) -> None:
    response = await http.post("/admin/faults", json=fault)
    assert response.status_code == 201, response.text


@pytest.mark.parametrize(
    ("fault", "status", "effects"),
    [
        ({"kind": "act_500"}, 500, 1),
        ({"kind": "refuse"}, 400, 0),
        ({"kind": "refuse", "status": 422}, 422, 0),
        ({"kind": "failed"}, 200, 0),
        ({"kind": "precondition"}, 412, 0),
        ({"kind": "throttle", "seconds": 9}, 429, 0),
        ({"kind": "html_502", "acted": True}, 502, 1),
        ({"kind": "html_502"}, 502, 0),
        ({"kind": "html_refusal", "status": 404, "acted": True}, 404, 1),
        ({"kind": "broken_json"}, 200, 1),
        ({"kind": "huge_body"}, 200, 1),
        ({"kind": "slow_drip", "seconds": 0.01}, 200, 1),
        ({"kind": "act_delay", "seconds": 0.01}, 200, 1),
        ({"kind": "delay_before", "seconds": 0.01}, 200, 1),
        ({"kind": "alter"}, 200, 1),
        ({"kind": "settle_slowly", "seconds": 9}, 200, 1),
    ],
)
async def test_a_fault_acts_or_not_and_runs_out(
    fault: dict[str, Any], status: int, effects: int
) -> None:
    """The answer and the effect are what the order says, once."""
    async with provider() as http:
        await order_fault(http, **fault)
        assert (await create(http)).status_code == status
        assert (await counters(http))["effects_total"] == effects
        assert (await http.get("/admin/faults")).json() == {"faults": []}
        entry = (await http.get("/admin/journal")).json()["requests"][0]
        assert (entry["fault"], entry["acted"]) == (fault["kind"], bool(effects))
        assert (entry["status"], entry["key"], entry["done"]) == (status, KEY, True)
        assert entry["body"].startswith("{")


@pytest.mark.parametrize(("kind", "effects"), [("act_drop", 1), ("cut_json", 1), ("drop", 0)])
async def test_a_dropped_connection_is_an_error_in_process(kind: str, effects: int) -> None:
    """Where there is no socket to close, the break is an exception, never a good answer."""
    async with provider() as http:
        await order_fault(http, kind=kind)
        with pytest.raises(ConnectionResetError):
            await create(http)
        seen = await counters(http)
        assert (seen["effects_total"], seen["in_flight"]) == (effects, 0)


async def test_failed_and_412_are_kept_under_the_key() -> None:
    """Execution began, so the failure is replayed; a refusal is not kept."""
    async with provider() as http:
        for kind, key, kept in (
            ("failed", "1" * 32, True),
            ("precondition", "2" * 32, True),
            ("refuse", "3" * 32, False),
        ):
            await order_fault(http, kind=kind)
            first = await create(http, key=key)
            second = await create(http, key=key)
            assert (second.content == first.content) is kept
        assert (await counters(http))["effects_by_key"] == {"3" * 32: 1}


async def test_a_provider_that_ignores_the_key_makes_duplicates() -> None:
    """The counter of duplicates can rise: without it no test of "never twice" could fail."""
    async with provider() as http:
        await create(http)
        await order_fault(http, kind="ignore_key")
        await create(http)
        seen = await counters(http)
        assert (seen["effects_by_key"], seen["duplicates"]) == ({KEY: 2}, 1)


async def test_lookup_503_hits_reads_only() -> None:
    """It waits for the next GET and leaves writes alone."""
    async with provider() as http:
        await order_fault(http, kind="lookup_503")
        assert (await create(http)).status_code == 200
        assert (await http.get("/core/v5/orders")).status_code == 503
        assert (await http.get("/core/v5/orders")).status_code == 200


async def test_a_lagging_order_is_invisible_to_all_reads() -> None:
    """List, order and charge show it only after the lag."""
    async with provider() as http:
        await order_fault(http, kind="lookup_lag", seconds=30)
        doc = (await create(http)).json()
        paths = [f"/core/v5/orders/{doc['id']}", f"/core/v5/charges/{doc['charges'][0]['id']}"]
        assert [(await http.get(path)).status_code for path in paths] == [404, 404]
        assert (await http.get("/core/v5/orders")).json()["data"] == []
        await http.post("/admin/clock", json={"advance_seconds": 31})
        assert [(await http.get(path)).status_code for path in paths] == [200, 200]
        assert len((await http.get("/core/v5/orders")).json()["data"]) == 1


async def test_what_is_being_served_is_counted_as_in_flight() -> None:
    """A delayed act is visible while it waits."""
    async with provider() as http:
        await order_fault(http, kind="delay_before", seconds=0.1)
        task = asyncio.create_task(create(http))
        await asyncio.sleep(0.03)
        waiting = await counters(http)
        await task
        done = await counters(http)
        assert (waiting["in_flight"], waiting["effects_total"]) == (1, 0)
        assert (done["in_flight"], done["effects_total"]) == (0, 1)


@pytest.mark.parametrize(
    ("fault", "method", "path", "key", "hit"),
    [
        (Fault(kind=FaultKind.DROP), "POST", "/a", None, True),
        (Fault(kind=FaultKind.DROP), "DELETE", "/a", None, True),
        (Fault(kind=FaultKind.DROP), "GET", "/a", None, False),
        (Fault(kind=FaultKind.DROP, method="get"), "GET", "/a", None, True),
        (Fault(kind=FaultKind.DROP, method="POST"), "DELETE", "/a", None, False),
        (Fault(kind=FaultKind.DROP, path_prefix="/a"), "POST", "/ab", None, True),
        (Fault(kind=FaultKind.DROP, path_prefix="/a"), "POST", "/b", None, False),
        (Fault(kind=FaultKind.DROP, key="k"), "POST", "/a", "k", True),
        (Fault(kind=FaultKind.DROP, key="k"), "POST", "/a", "other", False),
        (Fault(kind=FaultKind.DROP, key="k"), "POST", "/a", None, False),
    ],
)
def test_a_fault_hits_only_what_it_is_for(
    fault: Fault, method: str, path: str, key: str | None, hit: bool
) -> None:
    """Method, path prefix and key all have to fit."""
    book = FaultBook()
    book.add(fault)
    assert (book.take(method=method, path=path, key=key) is fault) is hit
    assert len(book.remaining()) == (0 if hit else 1)


def test_a_fault_applies_as_often_as_ordered() -> None:
    """Three times, then no more; a second order waits behind it."""
    book = FaultBook()
    book.add(Fault(kind=FaultKind.DROP, times=3))
    book.add(Fault(kind=FaultKind.ACT_500))
    taken = [book.take(method="POST", path="/", key=None) for _ in range(5)]
    assert [fault and fault.kind.value for fault in taken] == ["drop"] * 3 + ["act_500", None]


async def test_an_impossible_order_is_refused() -> None:
    """Unknown kinds, zero times and `acted` where it is fixed are errors of the test's author."""
    async with provider() as http:
        for fault in (
            {"kind": "surprise"},
            {"kind": "drop", "times": 0},
            {"kind": "drop", "acted": True},
            {"kind": "drop", "extra": 1},
        ):
            assert (await http.post("/admin/faults", json=fault)).status_code == 422


def test_the_pix_code_is_the_one_worked_out_by_hand() -> None:
    """Field order and lengths worked out by hand, the checksum by another implementation."""
    code = render(url="x.example/1", amount_cents=105, name="LOJA", city="RIO")
    assert code[:-4] == (
        "000201010212"
        "26330014br.gov.bcb.pix2511x.example/1"
        "52040000530398654041.055802BR5904LOJA6003RIO62070503***6304"
    )
    assert code[-4:] == f"{binascii.crc_hqx(code[:-4].encode(), 0xFFFF):04X}"
