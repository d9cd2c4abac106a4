"""`aval audit`: what was changed is found, what was cut off is found by the copy outside, and a
page tells one action whole and nobody else's words."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from cli.main import main
from tests.harness.scenes import ask, prompts, propose
from tests.harness.stack import Stack

Audit = Callable[..., Awaitable[tuple[int, str]]]


@pytest.fixture
def audit(
    stack: Stack,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Audit:
    """Run `aval audit ...` in an empty folder: exit code, and stdout or stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AVAL_DATABASE_URL", stack.settings.database_url.get_secret_value())

    async def run(*argv: str) -> tuple[int, str]:
        capsys.readouterr()
        code = await asyncio.to_thread(main, ("audit", *argv))
        out, err = capsys.readouterr()
        return code, out + err

    return run


async def executed(stack: Stack) -> str:
    """The id of an action that was confirmed and done; a stranger pressed before."""
    action = await propose(stack)
    await stack.whatsapp.press("carlos", button_id=f"pa:confirm:{action['id']}")
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    return str(action["id"])


async def tamper(stack: Stack, statement: str, *values: object) -> None:
    """As somebody who owns the database."""
    for table in ("audit_events", "actions"):
        await stack.pool.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    await stack.pool.execute(statement, *values)


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            "UPDATE audit_events SET detail = detail || '{\"x\": 1}' WHERE n = 2",
            "the chain of evidence is broken at link 2",
        ),
        ("DELETE FROM audit_events WHERE n = 2", "the chain of evidence is broken at link 3"),
        ("DELETE FROM audit_events", "the chain of evidence is broken at link 1"),
        (
            "UPDATE actions SET payload = jsonb_set(payload, '{amount_cents}', '15001')",
            "a frozen column is not what was shown",
        ),
    ],
)
async def test_a_change_is_found(stack: Stack, audit: Audit, statement: str, fault: str) -> None:
    """One byte of a link, a link, all links, a frozen column: exit 1, and which action."""
    action = await executed(stack)
    assert await audit("verify") == (0, "1 actions: no faults\n")
    await tamper(stack, statement)
    code, said = await audit("verify", "--since", "1h")
    assert code == 1
    assert f"{action}: {fault}\n" in said


async def test_a_tail_that_was_cut_off_is_found_by_the_anchor(stack: Stack, audit: Audit) -> None:
    """Without its last link a chain is whole; the head that was kept outside is missed. The same
    for a chain that was written anew."""
    action = await executed(stack)
    code, said = await audit("anchor", "--file", "heads")
    assert code == 0
    assert re.search(r" 1 heads, seal [0-9a-f]{64}\n", said)
    assert await audit("verify", "--file", "heads") == (
        0,
        "1 actions, 1 anchored heads: no faults\n",
    )
    await tamper(
        stack,
        "DELETE FROM audit_events WHERE n = (SELECT max(n) FROM audit_events)",
    )
    assert (await audit("verify"))[0] == 0
    code, said = await audit("verify", "--file", "heads")
    assert code == 1
    assert f"{action}: link" in said
    assert "was anchored and is changed or gone" in said


async def test_anchoring_again_adds_what_is_new(stack: Stack, audit: Audit) -> None:
    """Nothing new: no head, a new seal. A longer chain: its new head, and the old one stays."""
    action = await propose(stack)
    await audit("anchor", "--file", "heads")
    assert " 0 heads" in (await audit("anchor", "--file", "heads"))[1]
    await stack.whatsapp.press("maria", "cancel")
    await stack.wait_status(action["id"], "cancelled")
    await stack.quiet()
    assert " 1 heads" in (await audit("anchor", "--file", "heads"))[1]
    assert "2 anchored heads: no faults" in (await audit("verify", "--file", "heads"))[1]


async def test_a_changed_anchor_file_is_refused(stack: Stack, audit: Audit, tmp_path: Path) -> None:
    """One digit changed, a line cut off, a file of something else, no file: exit 2, one line that
    names file and line; nothing is appended to it."""
    await propose(stack)
    await audit("anchor", "--file", "heads")
    whole = (tmp_path / "heads").read_text("ascii")
    head, seal = whole.splitlines(keepends=True)
    for changed in (
        head.replace(" 1 ", " 9 ") if " 1 " in head else head.replace(" 2 ", " 9 ") + seal,
        head,
        whole + "x\n",
        "something else\n",
        whole[:-1],
    ):
        (tmp_path / "heads").write_text(changed, "ascii")
        for argv in (("verify", "--file", "heads"), ("anchor", "--file", "heads")):
            code, said = await audit(*argv)
            assert (code, said.count("\n")) == (2, 1)
            assert re.search(r"anchor file 'heads', line [12]", said) or "line 3" in said
        assert (tmp_path / "heads").read_text("ascii") == changed
    code, said = await audit("verify", "--file", "nowhere")
    assert code == 2
    assert "holds no heads" in said


async def test_a_page_tells_the_whole_action_and_no_one_elses_words(
    stack: Stack, audit: Audit, tmp_path: Path
) -> None:
    """What she saw, to the letter; her own signed click; the request and the answer. Not the
    stranger's click, not the chat around it; no address outside, no script."""
    action = await executed(stack)
    secret = "minha senha é batata"
    await ask(stack, secret, person="maria")
    code, said = await audit("export", action[:8])
    assert (code, said) == (0, f"evidence-{action}.html\n")
    text = (tmp_path / f"evidence-{action}.html").read_text("utf-8")
    (prompt,) = await prompts(stack, "maria")
    assert prompt.text in text
    assert f"pa:confirm:{action}" in text
    assert text.count("The item of the signed webhook") == 1
    assert "refused: wrong_person" in text
    assert "created" in text
    assert "5511988880002" not in text, "the stranger's phone"
    assert "batata" not in text
    assert "gera um Pix" not in text, "the chat"
    assert not re.search(r"(?i)<(script|img|link|iframe)|src=|@import|url\(", text)

    await tamper(stack, "UPDATE audit_events SET detail = '{}' WHERE n = 1")
    code, said = await audit("export", action, "--file", "p.html")
    assert code == 1
    assert "BROKEN at link 1" in (tmp_path / "p.html").read_text("utf-8")


async def test_what_a_person_wrote_is_text_in_the_page(
    stack: Stack, audit: Audit, tmp_path: Path
) -> None:
    """Markup in a description stays text."""
    await stack.whatsapp.send_text(
        "maria",
        '/tool create_pix_charge {"customer": "João Silva", "amount_cents": 500,'
        ' "description": "a & b \\"c\\""}',
    )
    await stack.whatsapp.wait_prompt("maria", timeout_seconds=20)
    action = await stack.latest_action()
    await audit("export", str(action["id"]), "--file", "p.html")
    text = (tmp_path / "p.html").read_text("utf-8")
    assert "a &amp; b" in text
    assert "a & b" not in text
