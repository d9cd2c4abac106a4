"""A broken promise of a tool stops the start, and names tool and rule."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from domain.errors import SettingsError, ToolContractError
from domain.people import Role
from tools.checks import check_tool
from tools.contract import (
    EVERYONE,
    Confirm,
    DatabaseTool,
    EffectTool,
    Payload,
    ReadTool,
    Risk,
)
from tools.registry import Registry, UnknownToolError, load_tools
from tools.schema import SchemaError, fits_strict, tool_schema

TEXT = "Says what it does. Says when to use it. Says what comes back."


class Closed(BaseModel):
    """A closed input."""

    model_config = ConfigDict(extra="forbid")

    amount_cents: int = Field(ge=1, le=100, description="Cents.")
    note: str | None = Field(default=None, max_length=9)


class Reader(ReadTool[Closed]):
    """A read tool that keeps every rule."""

    name = "get_thing"
    description = TEXT
    input_model = Closed
    roles = EVERYONE

    async def look_up(self, data: Closed, who: object, db: object) -> Payload:
        """Nothing."""
        return {}


class Writer(DatabaseTool[Closed]):
    """An effect tool that keeps every rule."""

    name = "change_thing"
    description = TEXT
    risk = Risk.REVERSIBLE
    input_model = Closed

    async def prepare(self, data: Closed, who: object, db: object) -> Any:
        """Not called here."""
        raise NotImplementedError

    async def revalidate(self, payload: Payload, who: object, db: object) -> None:
        """Nothing."""

    async def execute(self, payload: Payload, key: str, context: object) -> Payload:
        """Nothing."""
        return {}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """Nothing."""
        return []


def changed(base: type, **attributes: object) -> object:
    """An instance of `base` with these class attributes."""
    return type(base.__name__, (base,), attributes)()


class OpenInput(BaseModel):
    """Forgets to forbid."""

    x: int


class FloatInput(BaseModel):
    """Money as a float."""

    model_config = ConfigDict(extra="forbid")

    amount: float | None = None


BROKEN: list[tuple[type, dict[str, object], str]] = [
    (Reader, {"name": "thing"}, "verb_noun"),
    (Reader, {"name": "Get_thing"}, "verb_noun"),
    (Reader, {"name": "get_" + "x" * 61}, "verb_noun"),
    (Reader, {"name": "get_thing\n"}, "verb_noun"),
    (Writer, {"name": "confirm_action"}, "decision"),
    (Writer, {"name": "approve_charge"}, "decision"),
    (Writer, {"name": "aprovar_cobranca"}, "decision"),
    (Writer, {"name": "aprobar_cobro"}, "decision"),
    (Writer, {"name": "ejecutar_accion"}, "decision"),
    (Writer, {"name": "autorizar_pix"}, "decision"),
    (Writer, {"name": "decide_thing"}, "decision"),
    (Writer, {"name": "charge_confirmation"}, "decision"),
    (Writer, {"name": "cancel_action"}, "decision"),
    (Writer, {"risk": None}, "no risk"),
    (Writer, {"risk": "critical"}, "no risk"),
    (Writer, {"risk": Risk.READ}, "must be a ReadTool"),
    (Reader, {"risk": Risk.CRITICAL}, "risk read"),
    (Writer, {"description": "Short. Too short. Yes."}, "description"),
    (Writer, {"description": "One sentence, however long it is, is no description " * 2}, "desc"),
    (Writer, {"version": 0}, "version"),
    (Writer, {"roles": frozenset()}, "roles"),
    (Writer, {"input_model": dict}, "input_model"),
    (Writer, {"input_model": OpenInput}, "open model"),
    (Writer, {"input_model": FloatInput}, "float"),
    (Writer, {"risk": Risk.CRITICAL, "confirm": Confirm.DIRECT}, "always needs a decision"),
    (Writer, {"moves_money": True}, "money is critical"),
    (Writer, {"risk": Risk.CRITICAL, "repeat_safe": True}, "repeat_safe"),
    (Writer, {"confirm": "button"}, "confirm must be"),
    (Writer, {"timeout": timedelta(minutes=5)}, "timeout"),
]


@pytest.mark.parametrize(("base", "attributes", "rule"), BROKEN)
def test_a_broken_rule_is_named(base: type, attributes: dict[str, object], rule: str) -> None:
    """The error says which module, which tool and which rule."""
    with pytest.raises(ToolContractError, match=rule) as caught:
        check_tool(changed(base, **attributes), module="my.tools")
    assert "my.tools: tool" in str(caught.value)


def test_good_tools_pass() -> None:
    """What keeps the rules is registered: the checks above do not refuse everything."""
    for tool in (Reader(), Writer(), changed(Writer, confirm=Confirm.DIRECT, repeat_safe=True)):
        assert check_tool(tool, module="m") is tool


def test_what_is_no_tool_is_refused() -> None:
    """Neither an object, nor an effect outside database and provider."""
    with pytest.raises(ToolContractError, match="neither"):
        check_tool(object(), module="m")
    bare = type("Bare", (EffectTool,), {**Writer.__dict__, "effect": None})()
    with pytest.raises(ToolContractError, match="DatabaseTool or a ProviderTool"):
        check_tool(bare, module="m")


def test_a_name_is_taken_once() -> None:
    """Two tools of one name: the model could not say which."""
    with pytest.raises(ToolContractError, match="taken"):
        Registry([Reader(), Reader()])


def test_roles_and_read_only_choose_what_is_offered() -> None:
    """Public people get what is for everyone; a read-only account gets reads."""
    registry = Registry([Writer(), Reader()])
    assert [t.name for t in registry.offered_to(Role.STAFF)] == ["change_thing", "get_thing"]
    assert [t.name for t in registry.offered_to(Role.PUBLIC)] == ["get_thing"]
    assert [s.name for s in registry.schemas(Role.OWNER, read_only=True)] == ["get_thing"]
    with pytest.raises(UnknownToolError, match="'confirm_action'"):
        registry.get("confirm_action")


def test_the_schema_is_strict() -> None:
    """Closed, limits as words, optional fields left out of `required`, no union, no default."""
    schema = tool_schema("get_thing", TEXT, Closed)
    assert schema.input_schema["additionalProperties"] is False
    assert schema.input_schema["required"] == ["amount_cents"]
    amount, note = schema.input_schema["properties"].values()
    assert amount == {"type": "integer", "description": "Cents. (at least 1, at most 100)"}
    assert note == {"type": "string", "description": "(at most 9 characters)"}
    assert (schema.optional, schema.unions) == (1, 0)
    assert fits_strict([schema] * 20)
    assert not fits_strict([schema] * 21)


def test_nested_models_are_written_out() -> None:
    """References become what they refer to; a model inside itself is refused."""

    class Outer(BaseModel):
        model_config = ConfigDict(extra="forbid")

        inner: Closed
        many: list[Closed]

    schema = tool_schema("get_thing", TEXT, Outer).input_schema
    assert "$ref" not in str(schema)
    assert schema["properties"]["many"]["items"]["additionalProperties"] is False

    with pytest.raises(SchemaError, match="contains itself"):
        tool_schema("get_thing", TEXT, Tree)


class Tree(BaseModel):
    """Contains itself."""

    model_config = ConfigDict(extra="forbid")

    children: "list[Tree]"


@pytest.fixture
def own_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with a tool module, and a clean import path afterwards."""
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "myshop_ok.py").write_text(
        "from tests.unit.tools.test_registry import Reader, Writer\nTOOLS = [Reader, Writer()]\n"
    )
    (tmp_path / "myshop_empty.py").write_text("TOOLS = []\n")
    (tmp_path / "myshop_missing.py").write_text("import no_such_library\n")
    (tmp_path / "myshop_abstract.py").write_text(
        "from tools.contract import ReadTool\nclass Half(ReadTool): ...\nTOOLS = [Half]\n"
    )
    return tmp_path


def test_a_users_own_package_is_loaded(own_package: Path) -> None:
    """Classes and instances, from a folder outside the product, in their order."""
    registry = load_tools(["myshop_ok"], own_package)
    assert registry.names == ["get_thing", "change_thing"]


def test_a_module_that_cannot_be_used_stops_the_start(own_package: Path) -> None:
    """Missing folder, missing module, missing library, empty list, half a tool."""
    with pytest.raises(SettingsError, match="not a folder"):
        load_tools(["myshop_ok"], own_package / "nowhere")
    with pytest.raises(SettingsError, match="no module 'myshop_nowhere'"):
        load_tools(["myshop_nowhere"], own_package)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        load_tools(["myshop_missing"], own_package)
    with pytest.raises(ToolContractError, match="TOOLS"):
        load_tools(["myshop_empty"], own_package)
    with pytest.raises(ToolContractError, match=r"'Half'.*abstract"):
        load_tools(["myshop_abstract"], own_package)
