"""The phone page in headless Chromium: what a newcomer does first, seen in a real browser."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, async_playwright, expect

from tests.harness.stack import SECRET, Stack

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser; without one the tests are skipped, and in CI they fail."""
    if CHROMIUM is None:
        reason = "no chromium on this machine"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return CHROMIUM


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: str, stack: Stack) -> AsyncIterator[Page]:
    """The phone page of a running system."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        page = await browser.new_page(viewport={"width": 1100, "height": 900})
        await page.goto(f"{stack.settings.whatsapp_base_url}/phone?key={SECRET}")
        yield page
        await browser.close()


async def _write(page: Page, text: str) -> None:
    await page.get_by_test_id("composer").fill(text)
    await page.get_by_test_id("send").click()


async def _picture(page: Page, name: str) -> None:
    """For the README, into the folder that PHONE_PICTURES names."""
    if folder := os.environ.get("PHONE_PICTURES"):
        await page.set_viewport_size({"width": 480, "height": 860})
        await asyncio.sleep(0.3)
        await page.screenshot(path=f"{folder}/{name}")


async def test_type_see_the_buttons_click_see_feedback_and_qr(page: Page, stack: Stack) -> None:
    """One types as the customer, sees the prompt with its two buttons, clicks, and sees the
    feedback and the Pix code with a QR picture; pressed again, nothing more is charged."""
    await _write(page, "gera um Pix de 150 reais pro João Silva")
    confirm = page.get_by_test_id("button-confirm").last
    await expect(confirm).to_be_visible(timeout=20_000)
    await expect(page.get_by_test_id("button-cancel").last).to_be_visible()
    await expect(page.get_by_text("Valor: R$ 150,00")).to_be_visible()
    assert await stack.charges() == 0

    await _picture(page, "phone.png")

    await confirm.click()
    picture = page.get_by_test_id("qr").last
    await expect(picture).to_be_visible(timeout=20_000)
    assert await picture.evaluate("img => img.complete && img.naturalWidth > 50")
    await stack.quiet()
    assert await stack.charges() == 1
    await _picture(page, "phone-done.png")

    await confirm.click()
    await page.get_by_test_id("redeliver").click()
    await stack.quiet()
    assert await stack.charges() == 1


async def test_another_person_has_another_chat_and_cannot_decide(page: Page, stack: Stack) -> None:
    """Switched to another person's number, the first one's prompt is not there."""
    await _write(page, "gera um Pix de 150 reais pro João Silva")
    await expect(page.get_by_test_id("button-confirm").last).to_be_visible(timeout=20_000)
    await page.get_by_test_id("person-select").select_option("carlos")
    await expect(page.get_by_test_id("button-confirm")).to_have_count(0)
    assert await stack.charges() == 0


async def test_one_talks_straight_to_a_tool(page: Page, stack: Stack) -> None:
    """`/tool NAME {json}` tries a tool without a model's understanding."""
    await _write(page, '/tool create_pix_charge {"customer":"João Silva","amount_cents":990}')
    await expect(page.get_by_text("Valor: R$ 9,90")).to_be_visible(timeout=20_000)
    assert (await stack.latest_action())["payload"]["amount_cents"] == 990


async def test_without_the_secret_there_is_no_page(page: Page, stack: Stack) -> None:
    """The page is closed to whoever does not know the run's secret."""
    fresh = await page.context.browser.new_context()  # type: ignore[union-attr]  # it was launched
    stranger = await fresh.new_page()
    answer = await stranger.goto(f"{stack.settings.whatsapp_base_url}/phone?key=wrong")
    assert answer is not None
    assert answer.status in {401, 403, 404}
    await fresh.close()
