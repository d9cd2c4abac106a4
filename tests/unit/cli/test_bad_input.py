"""Bad input on the command line: one line on stderr that quotes it, exit code 2."""

from pathlib import Path

import pytest

from cli.main import main

BAD = [
    [],
    ["nonsense"],
    ["up", "--fast"],
    ["actions"],
    ["actions", "list", "--status", "stuck"],
    ["actions", "list", "--older-than", "10"],
    ["actions", "list", "--since", "gestern"],
    ["actions", "list", "--limit", "0"],
    ["actions", "list", "--amount", "150"],
    ["turns", "show", "zz"],
    ["turns", "list", "--since", "gestern"],
    ["costs", "--since", "x"],
    ["audit", "anchor"],
    ["audit", "export", "zz"],
    ["audit", "verify", "--file", "nowhere"],
    ["actions", "list", "--person", "12"],
    ["actions", "show", "zz"],
    ["actions", "show", "../etc"],
    ["accounts", "add", "Loja Um", "--name", "x", "--time-zone", "UTC"],
    ["accounts", "add", "loja", "--name", "x", "--time-zone", "Mars/X"],
    ["accounts", "add", "loja", "--name", "x\x1b[2J", "--time-zone", "UTC"],
    ["accounts", "add", "loja", "--name", "x", "--time-zone", "UTC", "--recipient", "re_1"],
    ["accounts", "add", "loja", "--name", "x", "--time-zone", "UTC", "--gateway", "nobody"],
    ["members", "add", "loja", "Ana", "--role", "public", "--phone", "+5511988880001"],
    ["members", "add", "loja", "Ana", "--role", "staff"],
    ["members", "add", "loja", "Ana", "--role", "staff", "--phone", "eleven"],
    ["members", "remove", "loja", "first"],
    ["customers", "add", "loja", "Ana", "--document", "11111111111"],
    ["customers", "add", "loja", "Ana", "--email", "not an address"],
    ["numbers", "add", "loja", "+55 11"],
    ["actions", "list"],
    ["setup"],
    ["reconcile", "abcd"],
    ["reconcile", "zz", "--look"],
    ["reconcile", "abcd", "--look", "--failed"],
    ["reconcile", "abcd", "--executed", "--evidence", "seen"],
    ["reconcile", "abcd", "--failed", "--operator", "Ana"],
    ["reconcile", "abcd", "--failed", "--operator", "Ana", "--evidence", " "],
    ["reconcile", "abcd", "--failed", "--operator", "A\x1b[2J", "--evidence", "x"],
    ["reconcile", "abcd", "--resend", "--operator", "Ana"],
    ["reconcile", "abcd", "--resend", "--operator", "Ana", "--as-send", "0"],
    ["reconcile", "abcd", "--executed", "--operator", "Ana", "--evidence", "x", "--as-send", "2"],
    ["reconcile", "abcd", "--look"],
    ["doctor", "--hours", "0"],
    ["restored"],
    ["restored", "--operator", "Ana"],
]


@pytest.mark.parametrize("argv", BAD, ids=" ".join)
def test_one_line_and_exit_code_2(
    argv: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No usage page, no traceback, nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("aval")
    assert err.count("\n") == 1
    assert "\x1b" not in err


def test_a_mistyped_document_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """It may be a real person's, and stderr goes into logs."""
    main(["customers", "add", "loja", "Ana", "--document", "12345678900"])
    assert "12345678900" not in capsys.readouterr().err


def test_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`.env` is read where the command is run, and a variable of the shell is stronger."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("AVAL_API_PORT=abc\nAVAL_DATA=d # here\n", encoding="utf-8")
    assert main(["up"]) == 2
    assert "'abc'" in capsys.readouterr().err
    monkeypatch.setenv("AVAL_API_PORT", "def")
    assert main(["up"]) == 2
    assert "'def'" in capsys.readouterr().err


def test_a_broken_tool_module_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`aval tools` refuses what the worker would refuse, by name."""
    monkeypatch.setenv("AVAL_TOOLS", "no_such_shop.tools")
    monkeypatch.chdir(tmp_path)
    assert main(["tools"]) == 2
    assert "no_such_shop.tools" in capsys.readouterr().err


def test_tools_shows_risk_and_confirm_policy(capsys: pytest.CaptureFixture[str]) -> None:
    """What moves money is critical and needs the button; a read needs nothing."""
    assert main(["tools"]) == 0
    rows = {line.split()[0]: line.split()[1:4] for line in capsys.readouterr().out.splitlines()}
    assert rows["create_pix_charge"] == ["critical", "button", "yes"]
    assert rows["find_customer"] == ["read", "-", "-"]
