"""Reads and writes workflows through async models of memoria.md's tables: native enums, JSONB with MutableDict.

Arguments: the URL, a step, and the step's arguments. Prints one line of JSON. Uses none of Prosescope's own columns.
"""

import asyncio
import enum
import json
import sys
import urllib.request
import uuid
from datetime import datetime

from sqlalchemy import BigInteger, Boolean, ForeignKey, Text, func, select
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP, UUID
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.ext.mutable import MutableDict
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

URL, STEP, *ARGS = sys.argv[1:]
TIME = TIMESTAMP(timezone=True)


class WorkflowStatus(enum.Enum):
    active = "active"
    paused = "paused"
    cancelled = "cancelled"
    error = "error"


class RunStatus(enum.Enum):
    running = "running"
    waiting_for_input = "waiting_for_input"
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"


class EventKind(enum.Enum):
    progress = "progress"
    status = "status"
    warning = "warning"
    error = "error"
    final = "final"


class Base(DeclarativeBase):
    pass


class Workflow(Base):
    __tablename__ = "workflows"
    id: Mapped[uuid.UUID] = mapped_column(UUID(as_uuid=True), primary_key=True, default=uuid.uuid4)
    status: Mapped[WorkflowStatus] = mapped_column(default=WorkflowStatus.active)
    context: Mapped[dict] = mapped_column(MutableDict.as_mutable(JSONB), default=dict)
    preferences: Mapped[dict] = mapped_column(MutableDict.as_mutable(JSONB), default=dict)
    important_steps: Mapped[dict] = mapped_column(MutableDict.as_mutable(JSONB), default=dict)
    most_recent_run_id: Mapped[uuid.UUID | None] = mapped_column(UUID(as_uuid=True))
    error: Mapped[dict | None] = mapped_column(MutableDict.as_mutable(JSONB))
    created_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now(), onupdate=func.now())


class WorkflowRun(Base):
    __tablename__ = "workflow_runs"
    id: Mapped[uuid.UUID] = mapped_column(UUID(as_uuid=True), primary_key=True, default=uuid.uuid4)
    workflow_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workflows.id"))
    status: Mapped[RunStatus] = mapped_column(default=RunStatus.running)
    user_input: Mapped[str] = mapped_column(Text)
    ask_clarifications: Mapped[bool] = mapped_column(Boolean, default=True)
    state: Mapped[dict] = mapped_column(MutableDict.as_mutable(JSONB), default=dict)
    final_output: Mapped[dict | None] = mapped_column(MutableDict.as_mutable(JSONB))
    error: Mapped[dict | None] = mapped_column(MutableDict.as_mutable(JSONB))
    created_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now(), onupdate=func.now())


class WorkflowEvent(Base):
    __tablename__ = "workflow_events"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=True)
    workflow_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workflows.id"))
    run_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("workflow_runs.id"))
    kind: Mapped[EventKind]
    text: Mapped[str] = mapped_column(Text)
    payload: Mapped[dict | None] = mapped_column(MutableDict.as_mutable(JSONB))
    created_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now())


async def make(engine, sessions):
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with sessions.begin() as session:
        workflow = Workflow(context={"summary": "", "tail": [], "meta": {"next_seq": 1}})
        session.add(workflow)
    return {"workflow": str(workflow.id)}


async def turn(engine, sessions):
    of, run = map(uuid.UUID, ARGS)
    async with sessions.begin() as session:
        workflow = await session.get(Workflow, of)
        turn = await session.get(WorkflowRun, run)
        workflow.preferences["theirs"] = 1
        turn.state["phase"] = "searching"
        session.add(WorkflowEvent(workflow_id=of, run_id=run, kind=EventKind.progress, text="from SQLAlchemy"))
        status = turn.status.value
        tail = [message["content"] for message in workflow.context["tail"]]
    return {"status": status, "tail": tail}


async def race(engine, sessions):
    of, server = uuid.UUID(ARGS[0]), ARGS[1]
    refused = False
    for between in (True, False):
        try:
            async with sessions.begin() as session:
                workflow = await session.get(Workflow, of)
                if between:
                    body = json.dumps({"set": {"ours": "between"}}).encode()
                    request = urllib.request.Request(
                        f"{server}/workflow/prefer/{of}", body, {"Content-Type": "application/json"}
                    )
                    urllib.request.urlopen(request).read()
                workflow.preferences["in_place"] = 1
        except DBAPIError as error:
            refused = getattr(error.orig, "sqlstate", None) == "40001"
    async with sessions() as session:
        rows = await session.execute(select(Workflow.preferences).where(Workflow.id == of))
        return {"refused": refused, "preferences": dict(rows.scalar_one())}


async def main():
    engine = create_async_engine(URL.replace("postgresql://", "postgresql+psycopg://"))
    sessions = async_sessionmaker(engine, expire_on_commit=False)
    done = await {"make": make, "turn": turn, "race": race}[STEP](engine, sessions)
    await engine.dispose()
    print(json.dumps(done))


asyncio.run(main())
