"""Ships the fleet with `traj ship`: each host with a state directory of its own, and twice: when its
sessions are half written, and when they are complete."""

import json
import shutil

from running import runner


def half_of(file, copy):
    """The first rows of a session, as its program leaves them while it runs."""
    rows = file.read_bytes().splitlines(keepends=True)
    copy.write_bytes(b"".join(rows[:max(1, len(rows) // 2)]))


def ship_fleet(program, folders, root, work):
    """Returns how each host is called in the dataset, by the name of its directory."""
    names = {}
    for folder in folders:
        files = sorted(folder.glob("*.jsonl"))
        if not files:
            continue
        home = work / f"ship-{folder.name}"
        sessions = home / "sessions"
        sessions.mkdir(parents=True)
        traj = runner(program, home)
        for file in files[::2]:
            half_of(file, sessions / file.name)
        # Rows that do not say anything yet are skipped.
        traj("ship", "--all", "--to", root, "--json", TRAJ_ROOTS=str(sessions))
        shutil.copytree(folder, sessions, dirs_exist_ok=True)
        said = traj("ship", "--all", "--to", root, "--json", TRAJ_ROOTS=str(sessions))
        report = json.loads(said)["result"]
        assert report["sessions"] >= len(files) and not report["problems"], report
        again = json.loads(traj("ship", "--all", "--to", root, "--json",
                                TRAJ_ROOTS=str(sessions)))["result"]
        assert (again["segments"], again["shipped"]) == (0, 0), again
        names[folder.name] = report["hostId"]
    return names
