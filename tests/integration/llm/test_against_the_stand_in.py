"""The stand-in enforces the API's documented 400 rules by its own code: two readings of the same
pages must agree, and what is rendered must be accepted."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings

from domain.history import Entry, EntryContent
from llm.answers import Reply, ToolCalls, classify
from llm.client import ClaudeClient, build_anthropic
from llm.errors import FailureKind, ModelFailure
from llm.invariants import Rule, violations
from llm.models import capability_of
from llm.prompt import load_prompt, system_blocks
from llm.render import Message, NothingToAnswerError, render
from llm.repair import repair
from simulators.claude import create_app
from tests.unit.llm.builders import AT, clicked, history, result, said, sent
from tests.unit.llm.test_invariants import ASKED, BROKEN, TEXT, assistant, truth
from tests.unit.llm.test_render_properties import conversations
from tests.unit.llm.wire import TOOLS as BALANCE

PIX_SCHEMA = {
    "type": "object",
    "properties": {"customer": {"type": "string"}, "amount_cents": {"type": "integer"}},
    "required": ["customer", "amount_cents"],
    "additionalProperties": False,
}
PIX = {"name": "create_pix_charge", "description": "Cobrança Pix", "input_schema": PIX_SCHEMA}
TOOLS = [*({**tool, "input_schema": {"type": "object", "properties": {}}} for tool in BALANCE), PIX]
SYSTEM = system_blocks(load_prompt(None, language="pt-BR"), business_name="Horalis")


@pytest.fixture(params=["claude-haiku-5-5", "claude-sonnet-5-5", "claude-haiku-4-5"])
async def claude(request: pytest.FixtureRequest) -> AsyncIterator[ClaudeClient]:
    """Both ways of giving the facts: with a system role, and an older model without."""
    transport = httpx2.ASGITransport(app=create_app())
    async with httpx2.AsyncClient(transport=transport) as http_client:
        sdk = build_anthropic("sk-test", base_url="http://claude.test", http_client=http_client)
        yield ClaudeClient(sdk, request.param)


def rendered(claude: ClaudeClient, entries: list[Entry], facts: str = "") -> list[Message]:
    """The messages for this client's model."""
    return render(entries, facts=facts, now_local=AT, capability=claude.capability)


async def test_the_conversation_of_the_article_from_proposal_to_answer(
    claude: ClaudeClient,
) -> None:
    """The request proposes a charge of 15000 cents; after click and receipt, "e o Pix?" is
    answered in words and nothing is proposed again."""
    entries = history(said("gera um pix de R$ 150,00 para o João Silva"))
    step = classify(await claude.ask(SYSTEM, TOOLS, rendered(claude, entries)))
    assert isinstance(step, ToolCalls)
    (call,) = step.calls
    assert call.name == "create_pix_charge"
    assert call.input["amount_cents"] == 15000

    answer = await claude.ask(SYSTEM, TOOLS, rendered(claude, entries))
    (block,) = [block for block in answer.blocks if block["type"] == "tool_use"]
    asked = Entry.model_validate(
        {"position": 1, "kind": "assistant_blocks", "content": {"blocks": [block]}}
    )
    rest: list[EntryContent] = [
        result(str(block["id"]), {"status": "pending", "action_id": "9b1c"}),
        sent("Gerar cobrança Pix\nValor: R$ 150,00\n\nConfirma?"),
        clicked("[Usuário clicou em Confirmar na ação 9b1c]"),
        sent("Cobrança gerada, segue o código"),
        said("e o Pix?"),
    ]
    entries = [*entries, asked, *(Entry.of(at, content) for at, content in enumerate(rest, 2))]
    facts = '{"acao": "9b1c", "ferramenta": "create_pix_charge", "status": "executed"}'
    step = classify(await claude.ask(SYSTEM, TOOLS, rendered(claude, entries, facts)))
    assert isinstance(step, Reply)


async def test_the_cache_is_read_on_the_next_turn(claude: ClaudeClient) -> None:
    """Tools, prompt and history of the turn before are read from the cache, not paid again,
    though facts and time have changed."""
    first = history(said("oi " * 8000))
    await claude.ask(SYSTEM, TOOLS, render_at(claude, first, "2026-11-30T14:02:00-03:00"))
    second = [*first, Entry.of(1, sent("Olá!")), Entry.of(2, said("tudo bem?"))]
    answer = await claude.ask(SYSTEM, TOOLS, render_at(claude, second, "2026-11-30T14:03:00-03:00"))
    assert answer.usage["cache_read_input_tokens"] > 5000


def render_at(claude: ClaudeClient, entries: list[Entry], now: str) -> list[Message]:
    """The messages at another time, with other facts."""
    return render(entries, facts=f"facts of {now}", now_local=now, capability=claude.capability)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(conversations())
async def test_whatever_happened_the_far_side_accepts_it(
    claude: ClaudeClient, entries: list[Entry]
) -> None:
    """No conversation of the store is ever refused with a 400."""
    try:
        messages = rendered(claude, entries, "x")
    except NothingToAnswerError:
        return
    assert (await claude.ask(SYSTEM, TOOLS, messages, allow_tools=False)).stop_reason == "end_turn"


@pytest.mark.parametrize(("messages", "rule"), BROKEN)
async def test_what_the_checker_refuses_the_far_side_refuses_until_repaired(
    messages: list[Message], rule: Rule
) -> None:
    """Each broken rule is a 400 that says it can be repaired, and after repair it is accepted."""
    transport = httpx2.ASGITransport(app=create_app())
    async with httpx2.AsyncClient(transport=transport) as http_client:
        sdk = build_anthropic("sk-test", base_url="http://claude.test", http_client=http_client)
        client = ClaudeClient(sdk)
        broken = [*messages, assistant(TEXT), ASKED]
        assert violations(broken)
        if rule is not Rule.NOT_MERGED:  # the API merges by itself; only our renderer must
            with pytest.raises(ModelFailure) as caught:
                await client.ask(SYSTEM, TOOLS, broken)
            assert caught.value.kind is FailureKind.BAD_REQUEST
        mended = repair(broken, truth=truth).messages
        assert (await client.ask(SYSTEM, TOOLS, mended)).stop_reason in {"end_turn", "tool_use"}


def test_an_older_model_has_no_row() -> None:
    """The third model of these tests stands for all that are not in the table."""
    assert capability_of("claude-haiku-4-5").thinking is None
