"""How long each engine needs for each report on a dataset: the median of three, as JSON.

Usage: figures.py TRAJ ROOT [ENGINE...]
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from engines import ENGINES

SQL = Path(__file__).parent / "../../crates/traj-lake/src/views/sql/report"
ROUNDS = 3


def main(traj, root, *names):
    times = []
    for name in names or ["duckdb", "clickhouse", "datafusion"]:
        engine = ENGINES[name]
        command = [traj, "lake", "views", "--engine", engine.dialect, "--at", root]
        script = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        started = time.monotonic()
        opened = engine(script)
        times.append((f"{name}: open", time.monotonic() - started))
        for report in sorted(SQL.glob("*.sql")):
            taken = []
            for _ in range(ROUNDS):
                started = time.monotonic()
                opened.ask(report.read_text())
                taken.append(time.monotonic() - started)
            times.append((f"{name}: {report.stem}", statistics.median(taken)))
    print(json.dumps(times))


main(*sys.argv[1:])
