#!/usr/bin/env python3
"""Speed-up against the way to the target: a drafter here, the target's layers behind an rpc-server.

    scripts/rpc_study.py                          SmolLM2, 0, 1, 5 and 20 ms each way
    scripts/rpc_study.py --delays 0 50 -- --models gemma3 --draft-length 6

Starts build/llama-cpp/bin/rpc-server (scripts/install-llama-cpp.sh) and, between it and llama_compare, a proxy that
hands on every byte after the delay, in both directions: a round trip takes twice the delay. First row: no server.
What stands behind -- goes to llama_compare.
"""
import argparse
import collections
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class DelayedPipe:
    """Bytes from one socket to another, each `delay` seconds after it came."""

    def __init__(self, source, sink, delay):
        self.source, self.sink, self.delay = source, sink, delay
        self.waiting, self.there = collections.deque(), threading.Condition()
        for work in (self.read, self.write):
            threading.Thread(target=work, daemon=True).start()

    def read(self):
        data = b"-"
        while data:
            try:
                data = self.source.recv(1 << 20)
            except OSError:
                data = b""
            with self.there:
                self.waiting.append((time.monotonic() + self.delay, data))
                self.there.notify()

    def write(self):
        while True:
            with self.there:
                while not self.waiting:
                    self.there.wait()
                due, data = self.waiting.popleft()
            time.sleep(max(0, due - time.monotonic()))
            try:
                if not data:
                    self.sink.shutdown(socket.SHUT_WR)
                    return
                self.sink.sendall(data)
            except OSError:
                return


def listen():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(16)
    return s


def proxy(port, delay):
    """The port of a proxy to a port of this machine."""
    outside = listen()

    def accept():
        while True:
            near = outside.accept()[0]
            far = socket.create_connection(("127.0.0.1", port))
            for s in (near, far):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            DelayedPipe(near, far, delay)
            DelayedPipe(far, near, delay)

    threading.Thread(target=accept, daemon=True).start()
    return outside.getsockname()[1]


def start_server(program, threads):
    with listen() as s:
        port = s.getsockname()[1]
    server = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port), "-t", str(threads)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    for _ in range(1000):
        if server.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.01)
    server.kill()
    sys.exit(f"{program} does not answer")


def compare(program, flags):
    done = subprocess.run([program, "--json", *flags], check=True, text=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compare", default=ROOT / "build/release/examples/llama_compare")
    p.add_argument("--rpc-server", default=ROOT / "build/llama-cpp/bin/rpc-server")
    p.add_argument("--delays", nargs="+", type=float, default=[0, 1, 5, 20], help="milliseconds each way")
    p.add_argument("--rules", default="tli,slem,coupled")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    flags = ["--rules", a.rules, "--threads", str(a.threads), *(a.flags or ["--models", "smollm2"])]
    server, port = start_server(a.rpc_server, a.threads)
    try:
        print(f"{'delay':>8} {'T':>3} {'autoregressive':>15} {'best rule':>10} {'length':>6} {'a call':>6} "
              f"{'tokens/s':>8} {'speed-up':>8}", flush=True)
        for delay in [None, *a.delays]:
            where = [] if delay is None else ["--rpc", f"127.0.0.1:{proxy(port, delay / 1000)}"]
            rows = compare(a.compare, [*flags, *where])
            for t in sorted({r["temperature"] for r in rows}):
                plain, *others = (r for r in rows if r["temperature"] == t)
                best = max(others, key=lambda r: r["speedup"])
                print(f"{'here' if delay is None else f'{delay:g} ms':>8} {t:3g} {plain['tokens_per_second']:15.1f} "
                      f"{best['rule']:>10} {best['draft_length']:6.1f} {best['tokens_per_target_call']:6.2f} "
                      f"{best['tokens_per_second']:8.1f} {best['speedup']:7.2f}x", flush=True)
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
