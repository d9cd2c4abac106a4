"""`aval demo` ends by itself, reaches nobody, and every count is what was promised."""

import time

import pytest

from tests.acceptance.commands import open_folder, said, start

LAST = (
    "demo: proposals=1 presses=3 deliveries=4 charges=1 duplicates=0 "
    "model_calls_between_click_and_feedback=0"
)
CREDENTIALS = {
    "ANTHROPIC_API_KEY": "sk-ant-of-somebody",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
    "AVAL_WHATSAPP_TOKEN": "EAAof-somebody",
    "AVAL_PAGARME_API_KEY": "sk_live_of_somebody",
    "AVAL_DATABASE_URL": "postgresql://127.0.0.1:1/of_somebody",
    "TEMPORAL_ADDRESS": "127.0.0.1:1",
}


@pytest.mark.slow
def test_the_demo_shows_what_is_promised_and_uses_no_credentials() -> None:
    """One proposal, three presses, four deliveries, one charge; exit 0 within 120 s, although the
    shell and `.env` hold credentials and addresses of real parties."""
    with open_folder() as folder:
        lines = [f"{name}={value}" for name, value in CREDENTIALS.items()]
        (folder / ".env").write_text("\n".join(lines), encoding="utf-8")
        began = time.monotonic()
        process = start(folder, "demo", environment=CREDENTIALS)
        try:
            code = process.wait(timeout=120)
        finally:
            process.kill()
        text = said(folder)
        assert (code, text.splitlines()[-1]) == (0, LAST), text
        assert time.monotonic() - began < 120
        assert sorted(one.name for one in folder.iterdir()) == [".env", "out"]
        assert "gera um Pix de 150 reais pro João" in text
        assert text.index("[Confirmar]") < text.index("Carlos > [presses Confirmar]")
        assert text.count("br.gov.bcb.pix") == 1
