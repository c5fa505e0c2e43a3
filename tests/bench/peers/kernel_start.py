"""kernel_start.py -- milliseconds from starting the Jupyter kernel to its first result, for some starts.
usage: kernel_start.py PROGRAM RUNS
Depends on: pyzmq, jupyter_client.  Used by: startup_bench.sh."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

import zmq
from jupyter_client.session import Session

NAMES = ("shell_port", "control_port", "stdin_port", "iopub_port", "hb_port")
CELL = dict(code="1 + 1", silent=False, store_history=True, user_expressions={}, allow_stdin=False, stop_on_error=True)


def connection():
    sockets = [socket.socket() for _ in NAMES]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = dict(zip(NAMES, (one.getsockname()[1] for one in sockets)))
    for one in sockets:
        one.close()
    return dict(ports, transport="tcp", ip="127.0.0.1", key="k", signature_scheme="hmac-sha256")


def start(program, folder):
    to, session = connection(), Session(key=b"k")
    path = os.path.join(folder, "connection.json")
    with open(path, "w") as file:
        json.dump(to, file)
    client = zmq.Context.instance().socket(zmq.DEALER)
    client.setsockopt(zmq.RECONNECT_IVL, 2)
    began = time.monotonic()
    kernel = subprocess.Popen([program, "kernel", "-f", path])
    client.connect("tcp://127.0.0.1:%d" % to["shell_port"])
    session.send(client, "execute_request", CELL)
    client.recv_multipart()
    took = time.monotonic() - began
    session.send(client, "shutdown_request", dict(restart=False))
    client.recv_multipart()
    kernel.wait()
    client.close()
    return took


with tempfile.TemporaryDirectory() as folder:
    for _ in range(int(sys.argv[2])):
        print("%.0f" % (1e6 * start(sys.argv[1], folder)))
