"""Reads what `traj convert` writes with the programs that own each format, and compares it with
what `traj inspect` says of the same bundle.

Usage: check.py TRAJ REPOSITORY FOLDER
"""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

TRAJ, REPOSITORY, FOLDER = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
NOW = "2026-06-02T12:00:00Z"


def traj(*arguments, status=0):
    """Runs traj in the folder; returns its standard output."""
    environment = {**os.environ, "HOME": str(FOLDER), "NO_COLOR": "1"}
    command = [TRAJ, *map(str, arguments)]
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True)
    assert done.returncode == status, f"{command}: {done.returncode}: {done.stderr.decode()}"
    return done.stdout


class Case:
    """A bundle, and what `traj inspect` says of it."""

    def __init__(self, session, name=None):
        self.name = name or session.stem
        self.bundle = FOLDER / f"{self.name}-bundle"
        traj("export", "--session", session, "--workspace", FOLDER, "--now", NOW,
             "--output-root", FOLDER, "--output", self.bundle.name)
        self.summary = json.loads(traj("inspect", self.bundle, "--json"))["result"]
        self.usage = self.summary["usage"]
        self.calls = self.summary["calls"]

    def convert(self, format, *more):
        """Converts twice; the bytes are the same."""
        first = FOLDER / f"{self.name}.out.{format}"
        traj("convert", self.bundle, "--to", format, "--output", first, "--force", *more)
        again = traj("convert", self.bundle, "--to", format, "--output", "-", *more)
        assert first.read_bytes() == again, f"{first} is not the same twice"
        return first

    def cost(self):
        return self.usage.get("cost")


def close(one, other):
    return (one is None and other is None) or abs((one or 0) - (other or 0)) < 1e-9


def check_outcomes(case, outcomes):
    """The outcome of every call, as a list of names."""
    calls = case.calls
    failed = sum(outcome in ("failed", "timedOut") for outcome in outcomes)
    assert len(outcomes) == calls["calls"], (case.name, len(outcomes), calls)
    assert failed == calls["errors"], (case.name, outcomes, calls)
    for name in ("declined", "interrupted", "unanswered"):
        assert sum(outcome == name for outcome in outcomes) == calls[name], (case.name, name)


def check_csv(case):
    import duckdb

    path = case.convert("csv")
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    check_outcomes(case, [row["outcome"] for row in rows])
    for row in rows:
        for value in row.values():
            assert not value.lstrip(" ").startswith(("=", "+", "@", "\t")), row
    if not rows:
        return
    read = duckdb.sql(f"select * from read_csv('{path}', all_varchar=true, null_padding=false)")
    shown = [tuple(value or "" for value in row) for row in read.fetchall()]
    assert shown == [tuple(row.values()) for row in rows], case.name


def check_jsonl(case):
    rows = [json.loads(line) for line in case.convert("jsonl").read_text().splitlines()]
    check_outcomes(case, [row["outcome"] for row in rows])
    for row in rows:
        if "started_at" in row and "ended_at" in row:
            assert row["started_at"] <= row["ended_at"], row


def trajectories(root):
    return [root, *(root.subagent_trajectories or [])]


def check_atif(case):
    import atif

    path = case.convert("atif")
    root = atif.Trajectory.model_validate_json(path.read_text())
    assert root.schema_version == "ATIF-v1.8"
    check_harbor(path)
    steps = [step for one in trajectories(root) for step in one.steps]
    metrics = [step.metrics for step in steps if step.metrics]
    assert sum(one.prompt_tokens for one in metrics) == case.usage["inputTokens"], case.name
    assert sum(one.completion_tokens for one in metrics) == case.usage["outputTokens"], case.name
    assert sum(one.cached_tokens for one in metrics) == case.usage["cachedTokens"], case.name
    if case.cost() is not None:
        assert close(sum(one.cost_usd or 0 for one in metrics), case.cost()), case.name
    outcomes = []
    for step in steps:
        results = step.observation.results if step.observation else []
        by_id = {result.source_call_id: result.extra["outcome"] for result in results}
        ids = [call.tool_call_id for call in step.tool_calls or []]
        outcomes += [by_id.get(id, "unanswered") for id in ids]
    check_outcomes(case, outcomes)
    check_reading(case, path)
    named = {one.trajectory_id for one in root.subagent_trajectories or []}
    assert named <= set(case.summary["subRuns"]), (named, case.summary["subRuns"])
    strict = json.loads(path.read_text())
    strict["unknown"] = 1
    try:
        atif.Trajectory.model_validate(strict)
    except ValueError:
        return
    raise AssertionError("an unknown field must be refused: this check proves nothing")


def check_reading(case, path):
    """traj reads what it wrote."""
    read = json.loads(traj("inspect", path, "--json"))["result"]
    for name in ("calls", "errors", "declined", "interrupted", "unanswered"):
        assert read["calls"][name] == case.calls[name], (path, name)
    for name in ("inputTokens", "outputTokens", "cachedTokens"):
        assert read["usage"][name] == case.usage[name], (path, name)
    if case.cost() is not None:
        assert abs(read["usage"]["cost"] - case.cost()) < 1e-6, (path, read["usage"])


def check_harbor(path):
    done = subprocess.run([sys.executable, "-m", "harbor.utils.trajectory_validator", path],
                          capture_output=True)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


# Runs of a program that counts tokens of model calls without a row for them.
UNRECORDED = {"claude-code-v2-1-requests"}


def check_parquet(case):
    import duckdb
    import polars
    import pyarrow.parquet

    events = case.convert("parquet")
    usage, cost = case.usage, case.cost()
    wanted = (case.summary["events"], usage["inputTokens"], usage["outputTokens"],
              usage["cachedTokens"])
    question = f"""select count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
                          coalesce(sum(cache_read_tokens), 0), sum(cost) from '{events}'"""
    *totals, summed = duckdb.sql(question).fetchall()[0]
    if case.name in UNRECORDED:
        assert all(one <= all_of for one, all_of in zip(totals, wanted)), (case.name, totals)
    else:
        assert tuple(totals) == wanted, (case.name, totals, wanted)
    if cost is not None and case.name not in UNRECORDED:
        assert close(float(summed), cost), (case.name, summed, cost)
    frame = polars.read_parquet(events)
    assert (frame.height, frame["input_tokens"].sum() or 0) == tuple(totals[:2]), case.name
    table = pyarrow.parquet.read_table(events)
    assert table.num_rows == wanted[0]
    assert str(table.schema.field("ts").type) == "timestamp[us, tz=UTC]"
    assert str(table.schema.field("cost").type) == "decimal128(18, 9)"
    assert pyarrow.parquet.read_metadata(events).created_by == "traj"
    for data in table.column("data").to_pylist():
        json.loads(data)
    ids = table.column("event_id").to_pylist()
    assert len(set(ids)) == len(ids) and all(len(id) == 32 for id in ids)
    parents = set(table.column("parent_id").to_pylist()) - {None}
    assert parents <= set(ids), case.name
    calls = case.convert("parquet", "--table", "calls")
    rows = duckdb.sql(f"select outcome from '{calls}'").fetchall()
    check_outcomes(case, [outcome for (outcome,) in rows])
    assert polars.read_parquet(calls).height == len(rows)


def attributes(values):
    read = {}
    for value in values:
        kind = value.value.WhichOneof("value")
        read[value.key] = getattr(value.value, kind)
    return read


def check_otlp(case):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    for more in ([], ["--content"]):
        request = ExportTraceServiceRequest.FromString(case.convert("otlp", *more).read_bytes())
        spans = check_spans(case, request, bool(more))
        path = case.convert("otlp-json", *more)
        check_reading(case, path)
        lines = path.read_text().splitlines()
        written = []
        for line in lines:
            document = json.loads(line)
            for resource in document["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        assert len(span["traceId"]) == 32 and len(span["spanId"]) == 16, span
                        written.append((span["traceId"], span["spanId"], span["name"],
                                        span["startTimeUnixNano"], span["endTimeUnixNano"]))
            # protobuf's own JSON has ids in base64; everything else must be known to it.
            json_format.ParseDict(without_ids(document), ExportTraceServiceRequest())
        assert written == [(span.trace_id.hex(), span.span_id.hex(), span.name,
                            str(span.start_time_unix_nano), str(span.end_time_unix_nano))
                           for span in spans], case.name


def without_ids(value):
    if isinstance(value, dict):
        ids = ("traceId", "spanId", "parentSpanId")
        return {key: without_ids(inner) for key, inner in value.items() if key not in ids}
    return [without_ids(inner) for inner in value] if isinstance(value, list) else value


def check_spans(case, request, has_content):
    spans = [span for resource in request.resource_spans for scope in resource.scope_spans
             for span in scope.spans]
    ids = {span.span_id for span in spans}
    assert len(ids) == len(spans) and len({span.trace_id for span in spans}) == 1, case.name
    roots = [span for span in spans if not span.parent_span_id]
    assert len(roots) == 1 and roots[0].name.startswith("invoke_agent "), case.name
    assert all(span.parent_span_id in ids for span in spans if span.parent_span_id), case.name
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in spans), case.name
    by_kind = {"invoke_agent": [], "chat": [], "execute_tool": []}
    for span in spans:
        read = attributes(span.attributes)
        by_kind[read["gen_ai.operation.name"]].append(read)
        shown = [key for key in read if key.endswith((".messages", ".arguments", ".result"))]
        assert has_content or not shown, shown
    for ours, theirs in [("input_tokens", "inputTokens"), ("output_tokens", "outputTokens"),
                         ("cache_read.input_tokens", "cachedTokens")]:
        total = sum(chat[f"gen_ai.usage.{ours}"] for chat in by_kind["chat"])
        assert total == case.usage[theirs], (case.name, ours, total)
    if case.cost() is not None:
        assert close(sum(chat.get("traj.usage.cost", 0) for chat in by_kind["chat"]), case.cost())
    check_outcomes(case, [tool["traj.tool.outcome"] for tool in by_kind["execute_tool"]])
    assert len(by_kind["invoke_agent"]) == 1 + len(case.summary["subRuns"]), case.name
    for chat in by_kind["chat"] if has_content else []:
        for name in ("gen_ai.input.messages", "gen_ai.output.messages"):
            for message in json.loads(chat.get(name, "[]")):
                assert message["role"] in ("user", "assistant", "tool") and message["parts"]
    return spans


def check_inspect(case):
    from inspect_ai.log import read_eval_log

    path = case.convert("inspect").rename(FOLDER / f"{case.name}.eval")
    log = read_eval_log(str(path))
    assert log.status == "success" and log.version == 2
    samples = log.samples
    assert len(samples) == log.eval.dataset.samples >= 1
    assert len(read_eval_log(str(path), header_only=True).eval.dataset.sample_ids) == len(samples)
    usage = [one for sample in samples for one in sample.model_usage.values()]
    read = sum((one.input_tokens_cache_read or 0) for one in usage)
    written = sum((one.input_tokens_cache_write or 0) for one in usage)
    assert sum(one.input_tokens for one in usage) + read + written == case.usage["inputTokens"]
    assert sum(one.output_tokens for one in usage) == case.usage["outputTokens"]
    assert read == case.usage["cachedTokens"]
    if case.cost() is not None and usage:
        assert close(sum(one.total_cost or 0 for one in usage), case.cost())
    outcomes = []
    for sample in samples:
        # Agents may use the same ids.
        asked = [call.id for message in sample.messages
                 for call in getattr(message, "tool_calls", 0) or []]
        answered = {}
        for message in sample.messages:
            if message.role == "tool":
                answered.setdefault(message.tool_call_id, []).append(message.metadata["outcome"])
        # An id may be used again: each answer belongs to one call.
        outcomes += [answered[id].pop(0) if answered.get(id) else "unanswered" for id in asked]
    check_outcomes(case, outcomes)


# Runs whose source states no time: their calls are not in a timeline, and a notice says so.
WITHOUT_TIMES = {"continue-session"}


def check_perfetto(case):
    trace = json.loads(case.convert("perfetto").read_text())
    events = trace["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    if case.name not in WITHOUT_TIMES:
        check_outcomes(case, [one["args"]["outcome"] for one in slices if one["cat"] == "tool"])
    assert all(one["dur"] >= 0 for one in slices)
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    assert {one["tid"] for one in slices} <= named
    free = {}
    # Slices that begin at the same time are in the order of the file: one without a duration may
    # come first.
    for one in sorted(slices, key=lambda one: (one["tid"], one["ts"])):
        end = free.get(one["tid"], one["ts"])
        assert one["ts"] >= end or one["cat"] == "turn", f"{case.name}: slices overlap: {one}"
        free[one["tid"]] = one["ts"] + one["dur"]
    flows = [event for event in events if event["ph"] in "sf"]
    assert len({event["id"] for event in flows}) * 2 == len(flows)
    costs = [event["args"] for event in events if event["ph"] == "C" and event["name"] == "cost"]
    if case.cost() is not None and costs:
        assert close(costs[-1]["USD"], case.cost()), (case.name, costs[-1])


def check_several(cases):
    """Runs in one table."""
    bundles = [case.bundle for case in cases]
    traj("convert", *bundles, "--to", "csv", "--output", "all.csv", "--force")
    with open(FOLDER / "all.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert len(rows) == sum(case.calls["calls"] for case in cases)
    traj("convert", *bundles, "--to", "atif", "--output", "all.json", status=2)


def check_names():
    """The names of attributes are those that the conventions publish."""
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
    from opentelemetry.semconv.attributes import error_attributes, exception_attributes

    published = {value for module in (gen_ai_attributes, error_attributes, exception_attributes)
                 for value in vars(module).values() if isinstance(value, str)}
    source = (REPOSITORY / "crates/traj-export/src/convert/otlp/attributes.rs").read_text()
    constants = re.findall(r'pub\(in super::super\) const [A-Z_]+: &str =\s*"([^"]+)";', source)
    names = [name for name in constants if "." in name and not name.startswith("traj.")]
    assert len(names) > 20, f"the names are not where they were: {names}"
    unknown = sorted(set(names) - published)
    assert not unknown, f"the conventions do not have {unknown}"
    commits = [re.findall(r"\b[0-9a-f]{40}\b", (REPOSITORY / path).read_text()) for path in
               ("crates/traj-export/src/convert/otlp/attributes.rs", "docs/formats/otlp.md")]
    assert len(commits[0]) == 1 and commits[0] == commits[1], f"the pins differ: {commits}"
    print(f"names: {len(names)} attributes", flush=True)


CHECKS = [check_csv, check_jsonl, check_atif, check_parquet, check_perfetto, check_otlp, check_inspect]


def fixtures():
    """The sessions of every agent that are files of their own, with the names of their cases."""
    no_sessions = {"README.md", "rows.jsonl", "agent-0a1b2c3d.jsonl"}
    for path in sorted((REPOSITORY / "tests/fixtures").glob("*/*")):
        agent = path.parent.name
        if path.is_file() and path.name not in no_sessions and agent != "databases":
            if path.suffix in (".json", ".jsonl", ".md"):
                yield path, path.stem if agent == "rollouts" else f"{agent}-{path.stem}"


def main():
    cases = [Case(FOLDER / "nightly-import.jsonl"), *(Case(*fixture) for fixture in fixtures())]
    assert len(cases) > 30, f"the fixtures are not where they were: {len(cases)}"
    for check in CHECKS:
        for case in cases:
            check(case)
        print(f"{check.__name__.removeprefix('check_')}: {len(cases)} runs", flush=True)
    check_several(cases)
    check_names()


main()
