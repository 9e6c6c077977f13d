"""Sends runs to a real receiver, Phoenix on loopback, reads the spans back through its API, and
compares them with what `traj inspect` says of the same session.

Usage: receiver.py TRAJ REPOSITORY FOLDER

Phoenix runs with the interpreter that runs this, and ends with it.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

TRAJ, REPOSITORY, FOLDER = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
RUNS = ["new-plain", "new-sub-agent", "old-compaction"]
PATIENCE = 120


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def traj(*arguments):
    environment = {**os.environ, "HOME": str(FOLDER), "NO_COLOR": "1"}
    done = subprocess.run([TRAJ, *map(str, arguments)], cwd=FOLDER, env=environment,
                          capture_output=True)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr.decode())
    return json.loads(done.stdout)["result"]


def serve():
    """Starts Phoenix. Returns its process and its address."""
    port, grpc = free_port(), free_port()
    environment = {**os.environ, "PHOENIX_HOST": "127.0.0.1", "PHOENIX_PORT": str(port),
                   "PHOENIX_GRPC_PORT": str(grpc), "PHOENIX_WORKING_DIR": str(FOLDER / "phoenix"),
                   "PHOENIX_TELEMETRY_ENABLED": "false"}
    command = [sys.executable, "-m", "phoenix.server.main", "serve"]
    with open(FOLDER / "phoenix.log", "wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fetch(f"{address}/v1/projects")
            return process, address
        except OSError:
            assert process.poll() is None, (FOLDER / "phoenix.log").read_text()[-2000:]
            assert time.monotonic() < end, "Phoenix does not answer"
            time.sleep(0.5)


def spans_of(address, trace, count):
    """The spans of a trace, when all of them have arrived."""
    end = time.monotonic() + PATIENCE
    while True:
        spans, cursor = [], ""
        while cursor is not None:
            page = fetch(f"{address}/v1/projects/default/spans?limit=1000{cursor}")
            spans += page["data"]
            cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
        spans = [span for span in spans if span["context"]["trace_id"] == trace]
        if len(spans) >= count:
            return spans
        assert time.monotonic() < end, f"{len(spans)} of {count} spans arrived"
        time.sleep(0.5)


def check(run, address):
    session = REPOSITORY / f"tests/fixtures/rollouts/{run}.jsonl"
    summary = traj("inspect", session, "--json")
    request = FOLDER / f"{run}.jsonl"
    traj("convert", session, "--to", "otlp-json", "--output", request, "--force", "--json")
    written = [span for line in request.read_text().splitlines()
               for resource in json.loads(line)["resourceSpans"]
               for scope in resource["scopeSpans"] for span in scope["spans"]]
    sent = traj("convert", session, "--to", "otlp", "--send", address, "--yes", "--json")["sent"]
    assert (sent["spans"], sent["rejected"]) == (len(written), 0), sent
    spans = spans_of(address, written[0]["traceId"], len(written))
    ids = {span["context"]["span_id"]: span["parent_id"] for span in spans}
    assert ids == {span["spanId"]: span.get("parentSpanId") or None for span in written}, run
    attributes = [span["attributes"] for span in spans]
    for ours, theirs in [("input_tokens", "inputTokens"), ("output_tokens", "outputTokens")]:
        total = sum(one.get(f"gen_ai.usage.{ours}", 0) for one in attributes)
        assert total == summary["usage"][theirs], (run, ours, total)
    outcomes = [one["traj.tool.outcome"] for one in attributes if "traj.tool.outcome" in one]
    assert len(outcomes) == summary["calls"]["calls"], (run, outcomes)
    failed = sum(outcome in ("failed", "timedOut") for outcome in outcomes)
    assert failed == summary["calls"]["errors"], (run, outcomes)
    print(f"{run}: {len(spans)} spans", flush=True)


def main():
    process, address = serve()
    try:
        for run in RUNS:
            check(run, address)
    finally:
        process.terminate()
        process.wait(timeout=30)


main()
