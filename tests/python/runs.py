"""Reads and writes a run through models of postgres.md's tables, beside prosescope. Arguments: the URL, the run's id, prosescope.

Prints the data that it read, as one line of JSON. Based only on the document: uses none of Prosescope's own columns.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import psycopg
from sqlalchemy import ForeignKey, Integer, String, Text, create_engine, func, select
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP, insert
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

URL, RUN, PROSE = sys.argv[1:4]
HOSTILE = "O'Brien said \"$(rm)\" \\n \u2603 \U0001f600"
TIME = TIMESTAMP(timezone=True)


class Base(DeclarativeBase):
    pass


class Run(Base):
    __tablename__ = "run"
    __table_args__ = {"schema": "openprose"}
    id: Mapped[str] = mapped_column(Text, primary_key=True)
    program_path: Mapped[str | None] = mapped_column(Text)
    program_source: Mapped[str | None] = mapped_column(Text)
    started_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now())
    status: Mapped[str] = mapped_column(Text, server_default="running")
    state_mode: Mapped[str] = mapped_column(Text, server_default="postgres")
    about: Mapped[dict | None] = mapped_column("metadata", JSONB)
    executions: Mapped[list["Execution"]] = relationship(order_by="Execution.id")


class Execution(Base):
    __tablename__ = "execution"
    __table_args__ = {"schema": "openprose"}
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("openprose.run.id"))
    statement_index: Mapped[int] = mapped_column(Integer)
    statement_text: Mapped[str | None] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String, server_default="pending")
    started_at: Mapped[datetime | None] = mapped_column(TIME)
    completed_at: Mapped[datetime | None] = mapped_column(TIME)
    error_message: Mapped[str | None] = mapped_column(Text)
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("openprose.execution.id"))
    about: Mapped[dict | None] = mapped_column("metadata", JSONB)


class Binding(Base):
    __tablename__ = "bindings"
    __table_args__ = {"schema": "openprose"}
    # The document's key contains COALESCE(execution_id, -1), which a model cannot express; the three columns identify a row.
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("openprose.run.id"), primary_key=True)
    execution_id: Mapped[int | None] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(Text)
    value: Mapped[str | None] = mapped_column(Text)
    source_statement: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(TIME, server_default=func.now())
    attachment_path: Mapped[str | None] = mapped_column(Text)
    about: Mapped[dict | None] = mapped_column("metadata", JSONB)


class Agent(Base):
    __tablename__ = "agents"
    __table_args__ = {"schema": "openprose"}
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    run_id: Mapped[str | None] = mapped_column(Text, primary_key=True)
    scope: Mapped[str] = mapped_column(Text)
    memory: Mapped[str | None] = mapped_column(Text)


class Segment(Base):
    __tablename__ = "agent_segments"
    __table_args__ = {"schema": "openprose"}
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    agent_name: Mapped[str] = mapped_column(Text)
    run_id: Mapped[str | None] = mapped_column(Text)
    segment_number: Mapped[int] = mapped_column(Integer)
    prompt: Mapped[str | None] = mapped_column(Text)
    summary: Mapped[str | None] = mapped_column(Text)


def prose_puts(n):
    subprocess.run(
        [PROSE, "put", f"ours_{n}", "--run", f"postgres:{RUN}"],
        input=f"ours {n}", text=True, check=True, capture_output=True,
    )


def psycopg_puts(n):
    with psycopg.connect(URL) as connection:
        connection.execute(
            """INSERT INTO openprose.bindings (name, run_id, execution_id, kind, value, source_statement)
               VALUES (%s, %s, NULL, 'let', %s, %s)
               ON CONFLICT (name, run_id, COALESCE(execution_id, -1)) DO UPDATE
               SET value = EXCLUDED.value, updated_at = NOW()""",
            (f"theirs_{n}", RUN, f"theirs {n}", "theirs = session \"x\""),
        )


def main():
    engine = create_engine(URL.replace("postgresql://", "postgresql+psycopg://"))
    with Session(engine) as session:
        run = session.get_one(Run, RUN)
        read = {
            "status": run.status,
            "program": run.program_source,
            "started": run.started_at.isoformat(),
            "executions": [[row.statement_index, row.statement_text, row.status] for row in run.executions],
            "bindings": {
                row.name: row.value for row in session.scalars(select(Binding).where(Binding.run_id == RUN))
            },
            "memory": session.scalars(
                select(Agent.memory).where(Agent.name == "captain", Agent.run_id == RUN)
            ).one(),
        }
        root = Execution(
            run_id=RUN, statement_index=2, statement_text='session "More"', status="executing",
            started_at=func.now(), about={},
        )
        session.add(root)
        session.flush()
        upsert = insert(Binding).values(
            name="typed", run_id=RUN, execution_id=root.id, kind="let", value=HOSTILE,
            source_statement='let typed = session "More"', about={"by": "SQLAlchemy"},
        )
        session.execute(upsert)
        root.status, root.completed_at = "completed", func.now()
        last = select(func.max(Segment.segment_number)).where(
            Segment.agent_name == "captain", Segment.run_id == RUN
        )
        session.add(
            Segment(
                agent_name="captain", run_id=RUN, segment_number=(session.scalar(last) or 0) + 1,
                prompt="by SQLAlchemy", summary=HOSTILE,
            )
        )
        session.commit()
        read["execution"] = root.id
    # Both programs write the run at the same time.
    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(put, n) for n in range(8) for put in (prose_puts, psycopg_puts)]
        for one in done:
            one.result()
    with Session(engine) as session:
        both = select(Binding.name, Binding.value).where(Binding.name.contains("s_", autoescape=True))
        read["both"] = sorted([name, value] for name, value in session.execute(both))
    read["hostile"] = HOSTILE
    print(json.dumps(read))


main()
