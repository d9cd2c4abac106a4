from pydantic import BaseModel

from domain.cleaning import clean_value
from tools.contract import DatabaseTool, Prepared, Risk


class Note(BaseModel, extra="forbid"):
    text: str


class LeaveNote(DatabaseTool[Note]):
    name, risk, input_model = "leave_note", Risk.REVERSIBLE, Note
    description = "Proposes a note to the team. The person decides by button. Copy his words."

    async def prepare(self, data, who, db):
        note = clean_value(data.text, field="text")
        return Prepared(payload={"note": note}, summary=f"Deixar recado\nTexto: {note}")

    async def revalidate(self, payload, who, db): ...  # nothing printed can change

    async def execute(self, payload, key, context):
        await context.transaction.execute("INSERT INTO notes VALUES ($1, $2)", key, payload["note"])
        return {}

    def success(self, payload, result):
        return ["Recado deixado."]


TOOLS = [LeaveNote]
