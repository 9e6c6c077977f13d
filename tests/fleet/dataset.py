"""Writes a dataset as hosts leave it: segments, revisions, half of a revision, and copies.

The rows are those of `traj convert` and `traj sessions`; only their arrangement in files is made
here, because no host can be asked to stop at each of these moments.
"""

import hashlib
import json
import random
from datetime import datetime
from decimal import Decimal

import pyarrow
import pyarrow.parquet as parquet

TEXT, NUMBER, TIME = pyarrow.string(), pyarrow.int64(), pyarrow.timestamp("us", tz="UTC")
SESSIONS = pyarrow.schema([
    ("schema_version", pyarrow.int32()), ("trace_id", TEXT), ("session_id", TEXT), ("agent", TEXT),
    ("agent_version", TEXT), ("host_id", TEXT), ("first_seq", NUMBER), ("last_seq", NUMBER),
    ("revision", pyarrow.int32()), ("status", TEXT), ("started_at", TIME), ("ended_at", TIME),
    ("events", NUMBER), ("turns", NUMBER), ("calls", NUMBER), ("call_errors", NUMBER),
    ("calls_timed_out", NUMBER), ("calls_declined", NUMBER), ("calls_interrupted", NUMBER),
    ("calls_unanswered", NUMBER), ("calls_dur_us", NUMBER), ("model", TEXT), ("models", TEXT),
    ("model_calls", NUMBER), ("input_tokens", NUMBER), ("output_tokens", NUMBER),
    ("cache_read_tokens", NUMBER), ("cache_write_tokens", NUMBER), ("reasoning_tokens", NUMBER),
    ("cost", pyarrow.decimal128(18, 9)), ("currency", TEXT), ("cost_origin", TEXT),
    ("errors", NUMBER), ("first_failure_seq", NUMBER), ("first_failure_at", TIME),
    ("first_failure_tool", TEXT), ("first_failure_outcome", TEXT),
    ("first_failure_exit_code", NUMBER), ("compactions", NUMBER), ("approvals_asked", NUMBER),
    ("approvals_denied", NUMBER), ("subagents", NUMBER), ("context_peak_tokens", NUMBER),
    ("lost_events", NUMBER), ("workspace", TEXT),
    ("labels", pyarrow.map_(TEXT, TEXT)),
])


def host_id(name):
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def time_of(text):
    return text and datetime.fromisoformat(text.replace("Z", "+00:00"))


def totals(row, session):
    """A row of sessions, from one of events and what `traj sessions` says."""
    calls, usage, failure = session["calls"], session["usage"], session["firstFailure"] or {}
    cost = usage.get("cost")
    return {
        "schema_version": 1, "trace_id": row["trace_id"], "session_id": row["session_id"],
        "agent": row["agent"], "host_id": row["host_id"], "status": session["status"],
        "started_at": time_of(session["startedAt"]), "ended_at": time_of(session["endedAt"]),
        "turns": session["turns"], "calls": calls["calls"], "call_errors": calls["errors"],
        "calls_timed_out": calls["timedOut"], "calls_declined": calls["declined"],
        "calls_interrupted": calls["interrupted"], "calls_unanswered": calls["unanswered"],
        "calls_dur_us": calls["totalMillis"] * 1000, "model": session["model"], "models": "[]",
        "model_calls": usage["calls"], "input_tokens": usage["inputTokens"],
        "output_tokens": usage["outputTokens"], "cache_read_tokens": usage["cachedTokens"],
        "cache_write_tokens": usage["cacheWriteTokens"],
        "reasoning_tokens": usage["reasoningTokens"],
        "cost": None if cost is None else round(Decimal(cost), 9),
        "currency": usage.get("currency"), "errors": session["errorCount"],
        "first_failure_seq": 1 if failure else None,
        "first_failure_at": time_of(failure.get("at")),
        "first_failure_tool": failure.get("tool"),
        "first_failure_outcome": failure.get("outcome"),
        "first_failure_exit_code": failure.get("exitCode"), "compactions": 0,
        "approvals_asked": 0, "approvals_denied": 0, "subagents": 0, "lost_events": 0,
        "labels": [],
    }


class Writer:
    """Puts the segments of sessions where hosts put them."""

    def __init__(self, root, seed):
        self.root, self.random, self.files = root / "traj/v1", random.Random(seed), 0

    def session(self, events, session, host):
        """`events` is the table of a session; `session` what `traj sessions` says of it."""
        rows = events.to_pylist()
        for row in rows:
            row["host_id"] = host
        step = self.random.choice([7, 20, 4096])
        for first in range(1, len(rows) + 1, step):
            segment = rows[first - 1:first - 1 + step]
            self.segment(events.schema, segment, session, first)
        self.empty(events.schema, rows, session, len(rows) + 1)

    def segment(self, schema, rows, session, first):
        kind = self.random.choice(["plain", "plain", "revised", "half", "copied"])
        newest = 2 if kind == "revised" else 1
        if newest == 2:
            # The first revision had more rows, and other ones.
            old = [{**row, "call_number": None, "input_tokens": 1_000_000} for row in rows]
            more = [{**old[-1], "seq": old[-1]["seq"] + 10_000}]
            self.put("events", schema, old + more, first, 1)
            self.put("sessions", SESSIONS, [self.total(rows, session, first, 1)], first, 1)
        self.put("events", schema, rows, first, newest)
        self.put("sessions", SESSIONS, [self.total(rows, session, first, newest)], first, newest)
        if kind == "half":
            # The host stopped before it stated the totals of a new revision.
            half = [{**row, "input_tokens": 5_000_000} for row in rows]
            self.put("events", schema, half, first, newest + 1)
        if kind == "copied":
            # A compaction was done, and its inputs are not deleted yet.
            self.put("events", schema, rows, first, newest, name=f"copied-{self.files}")
            row = self.total(rows, session, first, newest)
            self.put("sessions", SESSIONS, [row], first, newest, name=f"copied-{self.files}")

    def empty(self, schema, rows, session, first):
        """A segment that existed until the session became shorter."""
        gone = [{**rows[-1], "seq": first}]
        wrong = {**session, "turns": 999}
        self.put("events", schema, gone, first, 1)
        self.put("sessions", SESSIONS, [self.total(gone, wrong, first, 1)], first, 1)
        row = {**self.total(rows, wrong, first, 2), "last_seq": first - 1}
        self.put("sessions", SESSIONS, [row], first, 2)

    def total(self, rows, session, first, revision):
        last = rows[-1]["seq"]
        return {**totals(rows[0], session), "first_seq": first, "last_seq": last,
                "revision": revision, "events": last}

    def put(self, table, schema, rows, first, revision, name=None):
        rows = [dict(row) for row in rows]
        if table == "events":
            for row in rows:
                row.update(segment=first, revision=revision)
        times = [row["ts"] for row in rows if row.get("ts")]
        day = str(times[0].date()) if times else str(rows[0].get("started_at").date())
        agent = rows[0]["agent"] or "unknown"
        folder = self.root / table / f"date={day}" / f"agent={agent}"
        folder.mkdir(parents=True, exist_ok=True)
        host, trace = rows[0]["host_id"][:12], rows[0]["trace_id"][:12]
        path = folder / f"{name or f'{host}-{trace}-{first}-r{revision}'}.parquet"
        made = pyarrow.Table.from_pylist(rows, schema=schema)
        parquet.write_table(made, path, compression="zstd", store_schema=False)
        self.files += 1


def write_dataset(traj, folders, root, work, seed):
    """Writes the dataset; returns what `traj sessions` says, by host and session."""
    writer, truth = Writer(root, seed), {}
    for folder in folders:
        files = sorted(folder.glob("*.jsonl"))
        if not files:
            continue
        host = host_id(folder.name)
        listed = json.loads(traj("sessions", folder, "--json", "--no-cache"))["result"]
        assert not listed["problems"], listed["problems"]
        by_id = {session["sessionId"]: session for session in listed["sessions"]}
        out = work / f"{folder.name}.parquet"
        traj("convert", *files, "--to", "parquet", "--output", out, "--force")
        events = parquet.read_table(out)
        ids = events["session_id"].to_pylist()
        for name in sorted(set(ids)):
            start = ids.index(name)
            own = events.slice(start, ids.count(name))
            writer.session(own, by_id[name], host)
            truth[host, name] = by_id[name]
    return truth
