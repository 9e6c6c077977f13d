"""Asks every engine the same questions about a fleet and compares the answers, row by row, with
`traj sessions` and `traj convert`.

Usage: check.py TRAJ FOLDER --sessions N [--hosts N] [--days N] [--seed N] ENGINE...
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from dataset import write_dataset
from engines import ENGINES, rows
from running import runner
from sessions import write_fleet
from shipped import ship_fleet

QUESTIONS = {
    "runs": """select host_id, session_id, status, model, events, turns, calls, call_errors,
        calls_timed_out, calls_unanswered, calls_ms, model_calls, input_tokens, output_tokens,
        cache_read_tokens, cost, errors, started_ms, ended_ms from runs
        order by host_id, session_id""",
    "events": """select host_id, session_id, count(*) as n, sum(seq) as s, max(seq) as m from events
        group by host_id, session_id order by host_id, session_id""",
    "calls": """select host_id, session_id, call_id, tool, outcome, exit_code, duration_ms,
        started_ms from calls order by host_id, session_id, call_number""",
    "model_calls": """select host_id, session_id, seq, provider, model, input_tokens, output_tokens,
        cache_read_tokens, cost from model_calls order by host_id, session_id, seq""",
    "failures": """select host_id, session_id, seq, kind, tool, outcome, exit_code, error_kind
        from failures order by host_id, session_id, seq, kind, tool""",
    "cost_by_model_day": """select day, agent, provider, model, currency, model_calls, input_tokens,
        output_tokens, cost, calls_without_price from cost_by_model_day
        order by day, agent, provider, model, currency""",
    "slow_tools": """select tool, calls, failed_calls, timed_calls, total_ms, median_ms, p95_ms,
        longest_ms from slow_tools order by tool""",
    "first_failures": """select host_id, session_id, first_failure_tool, first_failure_outcome,
        first_failure_exit_code, first_failure_ms from first_failures order by host_id, session_id""",
    "context_growth": """select host_id, session_id, thread, call_in_thread, seq, input_tokens,
        added_tokens from context_growth order by host_id, session_id, thread, call_in_thread""",
}
SQL = Path(__file__).parent / "../../crates/traj-lake/src/views/sql/report"
QUESTIONS |= {f"report {path.stem}": path.read_text() for path in sorted(SQL.glob("*.sql"))}
REPORTS = ["cost", "errors", "slow-tools", "first-failures", "context"]


def millis(text):
    from dataset import time_of

    return text and round(time_of(text).timestamp() * 1000)


def check_truth(answers, truth, calls):
    """What the first engine says is what traj says of the sessions themselves."""
    runs = {row[:2]: row for row in answers["runs"]}
    assert len(runs) == len(answers["runs"]) == len(truth), (len(answers["runs"]), len(truth))
    failed = collections.Counter(row[:2] for row in answers["failures"] if row[3] == "call")
    used = collections.Counter()
    for row in answers["model_calls"]:
        used[row[:2]] += row[5]
    made = collections.defaultdict(list)
    for row in answers["calls"]:
        made[row[:2]].append(row[2:])
    first = {row[:2]: row[2:] for row in answers["first_failures"]}
    for key, session in truth.items():
        row, own, usage = runs[key], session["calls"], session["usage"]
        wanted = (session["status"], session["model"], session["events"], session["turns"],
                  own["calls"], own["errors"], own["timedOut"], own["unanswered"],
                  own["totalMillis"], usage["calls"], usage["inputTokens"],
                  usage["outputTokens"], usage["cachedTokens"])
        # The listing does not count events of every kind of file.
        wanted = tuple(said if want is None else want for want, said in zip(wanted, row[2:15]))
        assert row[2:15] == wanted, (key, row, wanted)
        cost = usage.get("cost")
        assert (row[15] is None) == (cost is None), (key, row[15], cost)
        assert cost is None or abs(float(row[15]) - cost) < 1e-8, (key, row[15], cost)
        assert (row[17], row[18]) == (millis(session["startedAt"]), millis(session["endedAt"])), key
        assert failed[key] == own["errors"], (key, failed[key], own)
        assert used[key] == usage["inputTokens"], (key, used[key], usage)
        failure = session["firstFailure"]
        wanted = failure and (failure["tool"], failure["outcome"], failure["exitCode"],
                              millis(failure["at"]))
        assert first.get(key) == (wanted or None), (key, first.get(key), wanted)
        assert made[key] == calls[key], (key, made[key], calls[key])
    events = {row[:2]: row[2:] for row in answers["events"]}
    for key, (count, total, last) in events.items():
        assert (count, total) == (last, last * (last + 1) // 2), (key, "not each event once")
    assert events.keys() == truth.keys()


def fresh_calls(traj, folders, work):
    """The calls of each session, from `traj convert`."""
    from dataset import host_id

    calls = collections.defaultdict(list)
    for folder in folders:
        files = sorted(folder.glob("*.jsonl"))
        if not files:
            continue
        out = work / f"{folder.name}.calls"
        traj("convert", *files, "--to", "jsonl", "--output", out, "--force")
        for line in out.read_text().splitlines():
            row = json.loads(line)
            calls[host_id(folder.name), row["session"]].append((
                row.get("call_id"), row["tool"], row["outcome"], row.get("exit_code"),
                row.get("duration_ms"), millis(row.get("started_at"))))
    return calls


def check_program(traj, root, home, expected):
    """`traj query` with the program of DuckDB."""
    program = shutil.which("duckdb", path=Path(sys.executable).parent)
    said = traj("query", "select count(*) as n from runs", "--at", root, "--duckdb", program,
                "--json")
    assert json.loads(said)["result"]["rows"] == [{"n": expected}], said
    for report in REPORTS:
        rows = json.loads(traj("query", "--report", report, "--at", root, "--duckdb", program,
                               "--json"))["result"]["rows"]
        assert rows, report
        text = traj("query", "--report", report, "--at", root, "--duckdb", program).decode()
        assert all(column in text for column in rows[0]), text
    for sql in ["copy (select 1) to 'written'", "drop view runs", "select 1; drop view runs",
                ".shell touch written", "attach 'x.db'", "pragma version", "selec 1"]:
        traj("query", sql, "--at", root, "--duckdb", program, status=2)
    assert not (home / "written").exists()
    traj("query", "select nothing from runs", "--at", root, "--duckdb", program, status=1)
    traj("query", "select 1", "--at", root, "--duckdb", "no-such-duckdb", status=1)


def check_compaction(traj, root, before):
    """The job of DuckDB, run twice, and then without the small files."""
    import duckdb

    for day in sorted(path.name[5:] for path in (root / "traj/v1/events").iterdir()):
        job = traj("lake", "job", "--engine", "duckdb", "--at", root, "compact", "--day", day)
        for _ in range(2):
            duckdb.connect().execute(job.decode())
        last = duckdb.connect().execute(job.decode()).fetchall()
        assert last, day
        for (file,) in last:
            assert "/compact-20" not in file
            os.unlink(file)
    after = ask_all("duckdb", traj, root)
    compare("duckdb after a compaction", after, before)


def ask_all(name, traj, root):
    started = time.monotonic()
    script = traj("lake", "views", "--engine", name, "--at", root).decode()
    engine = ENGINES[name](script)
    answers = {question: engine.ask(sql) for question, sql in QUESTIONS.items()}
    views = time.monotonic()
    print(f"  {name}: {sum(map(len, answers.values()))} rows of {len(answers)} questions in "
          f"{views - started:.1f} s", flush=True)
    return answers


def compare(name, answers, wanted):
    for question, rows in wanted.items():
        for one, other in zip(answers[question], rows):
            assert one == other, f"{name}, {question}:\n  {one}\n  {other}"
        assert len(answers[question]) == len(rows), (name, question)


def check_store(traj, root, truth, before):
    """The same dataset in an object store: ClickHouse with the views, polars with the files."""
    import polars
    from object_store import BUCKET, KEYS, served

    with served(root) as address:
        answers = ask_all("clickhouse", traj, f"{address}/{BUCKET}/fleet")
        compare("clickhouse on S3", answers, before)
        options = {"aws_access_key_id": KEYS["AWS_ACCESS_KEY_ID"],
                   "aws_secret_access_key": KEYS["AWS_SECRET_ACCESS_KEY"],
                   "aws_region": KEYS["AWS_REGION"], "aws_endpoint_url": address,
                   "aws_allow_http": "true"}

        def files(table):
            place = f"s3://{BUCKET}/fleet/traj/v1/{table}/**/*.parquet"
            return polars.scan_parquet(place, storage_options=options, hive_partitioning=True)

        check_polars(files, truth, before)


def check_shipped(program, engines, traj, folders, work, truth, calls):
    """The same questions about a dataset that `traj ship` wrote."""
    from dataset import host_id

    root = work.parent / "shipped"
    hosts = {host_id(folder): name
             for folder, name in ship_fleet(program, folders, root, work).items()}
    report = json.loads(traj("lake", "verify", "--at", root, "--json"))["result"]
    assert report["sessions"] == len(truth), (report["sessions"], len(truth))
    truth = {(hosts[host], session): said for (host, session), said in truth.items()}
    made = collections.defaultdict(list)
    made.update({(hosts[host], session): own for (host, session), own in calls.items()})
    first = ask_all("duckdb", traj, root)
    check_truth(first, truth, made)
    for name in engines:
        if name == "polars":
            check_store(traj, root, truth, first)
        elif name == "iceberg":
            check_iceberg(traj, root, work / "shipped-tables", first)
        elif name in ENGINES and name != "duckdb":
            compare(f"{name} on what was shipped", ask_all(name, traj, root), first)


def check_polars(files, truth, before):
    """What the views do, in the words of polars: the newest revision, and each event once."""
    import polars

    totals = files("sessions").collect()
    segment = ["host_id", "trace_id", "first_seq"]
    newest = totals.group_by(segment).agg(polars.col("revision").max())
    filled = totals.join(newest, on=[*segment, "revision"]).filter(
        polars.col("last_seq") >= polars.col("first_seq"))
    runs = filled.sort("first_seq").group_by("host_id", "trace_id").last()
    names = ["host_id", "session_id", "calls", "input_tokens", "output_tokens"]
    found = sorted(runs.select(names).rows())
    wanted = sorted((*row[:2], row[6], row[12], row[13]) for row in before["runs"])
    assert found == wanted and len(found) == len(truth), (found[:3], wanted[:3])
    newest = newest.rename({"first_seq": "segment"}).lazy()
    events = files("events").join(newest, on=["host_id", "trace_id", "segment", "revision"])
    events = events.unique(["host_id", "trace_id", "seq"])
    found = events.group_by("host_id", "session_id").agg(
        polars.len(), polars.col("seq").sum(), polars.col("seq").max().alias("last")).collect()
    assert sorted(found.rows()) == before["events"], "polars"


def check_iceberg(traj, root, home, before):
    """The job that registers files, twice; then the views of DuckDB on the Iceberg tables."""
    import duckdb
    from pyiceberg.catalog import load_catalog

    home.mkdir(exist_ok=True)
    catalog = {"type": "sql", "uri": f"sqlite:///{home}/catalog.db", "warehouse": f"file://{home}"}
    os.environ.update({f"PYICEBERG_CATALOG__DEFAULT__{key.upper()}": value
                       for key, value in catalog.items()})
    job = home / "iceberg.py"
    job.write_bytes(traj("lake", "job", "--engine", "duckdb", "--at", root, "iceberg"))
    for _ in range(2):
        print("  " + subprocess.run([sys.executable, job], check=True, capture_output=True,
                                    text=True).stdout.replace("\n", "; "), flush=True)
    script = traj("lake", "views", "--engine", "duckdb", "--at", root).decode()
    connection = duckdb.connect()
    for table in ("events", "sessions"):
        loaded = load_catalog("default", **catalog).load_table(f"traj.{table}").scan().to_arrow()
        connection.register(f"iceberg_{table}", loaded)
        script = re.sub(rf"read_parquet\(\s*'[^']*/{table}/[^']*',[^)]*\)",
                        f"(select *, cast(null as date) as date from iceberg_{table})", script)
    assert "read_parquet" not in script, script
    connection.execute(script)
    answers = {name: rows(connection.execute(sql).fetchall()) for name, sql in QUESTIONS.items()}
    compare("iceberg", answers, before)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("traj")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, required=True)
    parser.add_argument("--hosts", type=int, default=5)
    parser.add_argument("--days", type=int, default=4)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("engines", nargs="+", choices=[*ENGINES, "polars", "iceberg", "compaction"])
    given = parser.parse_args()
    shutil.rmtree(given.folder, ignore_errors=True)
    home = given.folder / "home"
    home.mkdir(parents=True)
    traj, root = runner(given.traj, home), given.folder / "lake"
    folders = write_fleet(given.folder / "hosts", given.hosts, given.sessions, given.days, given.seed)
    truth = write_dataset(traj, folders, root, home, given.seed)
    calls = fresh_calls(traj, folders, home)
    print(f"{len(truth)} sessions, {sum(map(len, calls.values()))} calls", flush=True)
    first = ask_all("duckdb", traj, root)
    check_truth(first, truth, calls)
    check_shipped(given.traj, given.engines, traj, folders, home, truth, calls)
    for name in given.engines:
        if name == "polars":
            check_store(traj, root, truth, first)
        elif name == "compaction":
            check_compaction(traj, root, first)
        elif name == "iceberg":
            check_iceberg(traj, root, home / "tables", first)
        elif name == "duckdb":
            check_program(traj, root, home, len(truth))
        else:
            compare(name, ask_all(name, traj, root), first)
    print("all engines agree with traj")


main()
