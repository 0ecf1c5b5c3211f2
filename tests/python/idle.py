"""Opens 5,000 connections that send nothing or half a request, and sends requests beside them. Arguments: address, token, process."""

import json
import resource
import socket
import sys
import urllib.request

ADDRESS, TOKEN, PROCESS = sys.argv[1:4]
WANTED = 5000

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
host, port = ADDRESS.rsplit(":", 1)


def ask():
    request = urllib.request.Request(f"http://{ADDRESS}/workflows", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200
        answer.read()


connections = []
for n in range(WANTED):
    connection = socket.create_connection((host, int(port)))
    if n % 3 == 0:
        connection.send(b"GET /health HTTP/1.1\r\nHost: loc")
    connections.append(connection)
    if n % 500 == 0:
        ask()
ask()
status = open(f"/proc/{PROCESS}/status").read()
peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
print(json.dumps({"connections": len(connections), "megabytes": int(peak.split()[1]) // 1024}))
