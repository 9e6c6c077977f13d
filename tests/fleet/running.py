"""Runs traj."""

import os
import subprocess


def runner(traj, home):
    environment = {**os.environ, "HOME": str(home), "NO_COLOR": "1"}

    def run(*arguments, status=0, **variables):
        command = [traj, *map(str, arguments)]
        done = subprocess.run(command, cwd=home, env={**environment, **variables},
                              capture_output=True)
        assert done.returncode == status, f"{command}: {done.returncode}: {done.stderr.decode()}"
        return done.stdout

    return run
