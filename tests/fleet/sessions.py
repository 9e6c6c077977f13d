"""Made-up sessions of a fleet: most are small, few are long, and some fail.

The same seed gives the same files. They are sessions of OpenClaw, some with the sidecar of a
recorder, so that calls have two witnesses.
"""

import json
import random
from datetime import datetime, timedelta, timezone

START = datetime(2026, 11, 1, tzinfo=timezone.utc)
TOOLS = ["shell", "read", "apply_patch", "search", "browser"]
MODELS = [("openai", "gpt-5.4"), ("anthropic", "claude-sonnet-4-5"), ("lab", "unpriced-model")]


def iso(at):
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


class Session:
    """Writes one session; `turns` decides how long it is."""

    def __init__(self, name, seed, days):
        self.random = random.Random(f"{seed}-{name}")
        self.name = name
        # Hosts are busy at some hours, and a long session may pass midnight.
        self.at = START + timedelta(days=self.random.randrange(days),
                                    seconds=int(self.random.betavariate(3, 2) * 86_399))
        self.rows = []
        self.calls = 0
        self.context = self.random.randrange(2_000, 20_000)

    def step(self, low, high):
        self.at += timedelta(milliseconds=self.random.randrange(low, high))

    def row(self, **members):
        self.rows.append({**members, "timestamp": iso(self.at)})

    def message(self, message, **more):
        number = len(self.rows)
        parent = f"{number - 1:08x}" if number > 1 else None
        self.row(type="message", id=f"{number:08x}", parentId=parent, message=message, **more)

    def write(self, path):
        pick = self.random
        self.row(type="session", version=3, id=self.name, cwd=f"/srv/work/{pick.randrange(9)}")
        # A few sessions are much longer than most.
        turns = min(1 + int(pick.paretovariate(1.2)), 40)
        self.provider, self.model = pick.choices(MODELS, [6, 3, 1])[0]
        for turn in range(turns):
            self.step(500, 600_000)
            text = f"Please do part {turn} of the work. " * pick.randrange(1, 12)
            self.message({"role": "user", "content": [{"type": "text", "text": text}]})
            for _ in range(pick.randrange(1, 5)):
                self.call()
            self.answer([{"type": "text", "text": "Done. " * pick.randrange(1, 40)}], "stop")
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in self.rows)
        path.write_text(text, encoding="utf-8")

    def answer(self, content, reason):
        pick = self.random
        self.step(800, 20_000)
        self.context += pick.randrange(50, 4_000)
        cached = int(self.context * pick.random())
        usage = {"input": self.context - cached, "output": pick.randrange(20, 900),
                 "cacheRead": cached, "cacheWrite": 0}
        usage["totalTokens"] = sum(usage.values())
        self.message({"role": "assistant", "content": content, "provider": self.provider,
                      "model": self.model, "usage": usage, "stopReason": reason})

    def call(self):
        pick = self.random
        made = []
        for _ in range(pick.choices([1, 2], [4, 1])[0]):
            self.calls += 1
            made.append((f"call_{self.calls}", pick.choices(TOOLS, [6, 4, 2, 2, 1])[0]))
        self.answer([{"type": "toolCall", "id": id, "name": tool,
                      "arguments": {"command": f"step {id}"}} for id, tool in made], "toolUse")
        for id, tool in made:
            if pick.random() < 0.02:
                continue
            self.step(5, int(10 + 60_000 * pick.random() ** 4))
            failed = pick.random() < 0.12
            result = {"role": "toolResult", "toolCallId": id, "toolName": tool,
                      "content": [{"type": "text", "text": "line of output\n" * pick.randrange(80)}],
                      "isError": failed}
            if failed and pick.random() < 0.7:
                result["details"] = {"exitCode": pick.choice([1, 1, 1, 2, 101, 127])}
            self.message(result)


def write_fleet(folder, hosts, sessions, days, seed):
    """Writes the sessions of each host into a folder of its own; returns the folders."""
    weights = [1 / (rank + 1) for rank in range(hosts)]
    pick = random.Random(seed)
    owners = pick.choices(range(hosts), weights, k=sessions)
    folders = []
    for host in range(hosts):
        own = folder / f"host{host:04d}"
        own.mkdir(parents=True, exist_ok=True)
        folders.append(own)
        for number in range(owners.count(host)):
            name = f"h{host:04d}-s{number:05d}"
            Session(name, seed, days).write(own / f"{name}.jsonl")
    return folders
