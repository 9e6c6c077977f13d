"""Writes the HTML export of one session with agentsview, which only its server does.

agentsview.py PROGRAM DATA_DIRECTORY SESSION OUTPUT starts the server, waits until it has read the
session, saves the export, and prints the peak memory of the server in MiB and the output tokens
that it counted.
"""

import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

program, data, session, output = sys.argv[1:5]
os.makedirs(data, exist_ok=True)
environment = dict(os.environ, AGENTSVIEW_DATA_DIR=data, AGENTSVIEW_TELEMETRY="0", DO_NOT_TRACK="1")
with socket.socket() as probe:
    try:
        # A new network namespace has a loopback that is down: SIOCSIFFLAGS with IFF_UP | IFF_RUNNING.
        fcntl.ioctl(probe, 0x8914, struct.pack("16sH22x", b"lo", 0x41))
    except OSError:
        pass
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
server = subprocess.Popen(
    [program, "serve", "--no-browser", "--no-update-check", "--port", str(port)],
    env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
deadline = time.monotonic() + 600
page = b""
try:
    while time.monotonic() < deadline and server.poll() is None:
        try:
            address = f"http://127.0.0.1:{port}/api/v1/sessions/{session}/export"
            page = urllib.request.urlopen(address, timeout=120).read()
            break
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    with open(f"/proc/{server.pid}/status", encoding="utf-8") as status:
        peak = int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1)) / 1024
    usage = subprocess.run([program, "session", "usage", session], env=environment,
                           capture_output=True, text=True, check=False).stdout
finally:
    server.send_signal(signal.SIGTERM)
    server.wait()
if not page:
    sys.exit("the session was not exported")
with open(output, "wb") as file:
    file.write(page)
tokens = re.search(r"Output:\s+(\d+)", usage)
print(f"{peak:.1f} {tokens.group(1) if tokens else 0}")
