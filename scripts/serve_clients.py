#!/usr/bin/env python3
"""Lets many clients use specdec-serve by the official `openai` package, and checks that nothing is lost or leaked.

usage: serve_clients.py [--programs FOLDER] [--requests N] [--minutes M [--clients N]] [--out FILE] [flags of specdec-serve, after --]
       serve_clients.py --base-url URL [--chat] [--field NAME=VALUE] [--counts 1,2,4] [--repeats N] [-n TOKENS]

Needs `pip install openai`. 1, 4, 16 and 64 clients make N requests in all (default: 1,000), half of them streamed, some
of them with a seed, n, stop or a JSON schema. Each output has to be the one that the same request has alone. Then
clients hang up, read slowly and send wrong input among others, and SIGTERM comes while outputs are made. With
--minutes M all this goes on for so long by N clients (default: 16), and the server's memory is sampled (to --out as
CSV, too): what it has at the start, after a minute and at the end is printed.

With --base-url it measures instead a server that is there already, ours or any other with OpenAI's API: tokens a second
and time to the first token, by the number of clients. Greedy; every client asks the same prompts in another order.

    specdec-serve --models smollm2 --sequences 16 --threads 2 --port 8080
    build/llama-cpp/bin/llama-server -m models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf -np 16 -c 16384 -t 2 --port 8081
    serve_clients.py --base-url http://127.0.0.1:8080/v1 --chat [--field speculative=false]
"""
import argparse, collections, concurrent.futures, http.client, json, os, pathlib, random, statistics, sys, threading, time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/programs"))
import test_serve

PROMPTS = test_serve.PROMPTS + ["for i in", "Note that", "The following", "try:", "with open(", "\u4f60\u597d \u03ba\u03b1\u03b9"]
SCHEMA = {"type": "object", "required": ["name", "ok"], "additionalProperties": False,
          "properties": {"name": {"type": "string", "maxLength": 12}, "ok": {"type": "boolean"}, "kind": {"enum": ["a", "b", None]}}}


def requests(n):
    """Different requests, the same in each run."""
    rng = random.Random(7)
    out = []
    for i in range(n):
        asked = {"prompt": PROMPTS[i % len(PROMPTS)], "max_tokens": rng.randint(4, 40)}
        asked |= [{"temperature": 0}, {"temperature": 0.8, "top_p": 0.9, "seed": i}, {"temperature": 1, "seed": i}][i // 2 % 3]
        if i % 5 == 3:
            asked["n"] = 2
        if i % 7 == 4:
            asked["stop"] = ["\n\n", "self"]
        if i % 11 == 6:
            asked |= {"prompt": "As JSON:\n\n", "max_tokens": 60}
            asked["extra_body"] = {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}}
        out.append(asked)
    return out


class Clients:
    def __init__(self, server):
        import openai
        self.library = openai
        self.server = server
        self.local = threading.local()

    @property
    def openai(self):
        """A thread's own client. It sends again what meets a connection that has just been closed for idleness, as is usual."""
        if not hasattr(self.local, "client"):
            self.local.client = self.library.OpenAI(base_url=f"http://127.0.0.1:{self.server.port}/v1", api_key="none", timeout=600)
        return self.local.client

    def whole(self, asked):
        got = self.openai.completions.create(model=self.server.model, **asked)
        return tuple((c.text, c.finish_reason) for c in got.choices)

    def streamed(self, asked, pause=0.0, most=None):
        """most: chunks after which the client hangs up."""
        texts, reasons = collections.defaultdict(str), {}
        with self.openai.completions.create(model=self.server.model, stream=True, **asked) as chunks:
            for k, chunk in enumerate(chunks):
                if most is not None and k == most:
                    return None
                for c in chunk.choices:
                    texts[c.index] += c.text
                    reasons[c.index] = c.finish_reason or reasons.get(c.index)
                time.sleep(pause)
        return tuple((texts[i], reasons[i]) for i in range(asked.get("n", 1)))

    def wrong(self, rng):
        """Refused by the name of the field."""
        field, value = rng.choice([("temperature", 7), ("n", 0), ("stop", [""]), ("max_tokens", 10 ** 9), ("logit_bias", {"1": 2}),
                                   ("response_format", {"type": "json_schema", "json_schema": {"name": "x", "schema": {"not": {}}}})])
        try:
            self.openai.completions.create(**{"model": self.server.model, "prompt": "a", "extra_body": {field: value}})
        except self.library.BadRequestError as refused:
            assert field in refused.body["message"], refused.body
            return
        raise AssertionError(f"{field}: {value} was not refused")


def rss(process):
    """(KiB, threads, open files)"""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    find = lambda name: int(status.split(name + ":")[1].split()[0])
    return find("VmRSS"), find("Threads"), len(os.listdir(f"/proc/{process.pid}/fd"))


def check(same, asked, wanted):
    if same != wanted:
        raise AssertionError(f"{asked}: {same!r}, alone {wanted!r}")


def many(clients, wanted, asked, count, requests, trouble=0.0, seed=1):
    """`count` clients make `requests` requests; a part `trouble` of them is no client that a server wishes for."""
    rng = random.Random(seed)
    plans = [(rng.randrange(len(asked)), rng.random() < trouble, rng.random(), rng.random()) for _ in range(requests)]

    def one(plan):
        i, bad, kind, pause = plan
        time.sleep(0.02 * pause)  # staggered
        if bad and kind < 0.4:
            clients.streamed(asked[i], most=int(pause * 6))
        elif bad and kind < 0.7:
            clients.wrong(random.Random(kind))
        elif bad:
            check(clients.streamed(asked[i], pause=0.05), asked[i], wanted[i])
        else:
            check(clients.streamed(asked[i]) if kind < 0.5 else clients.whole(asked[i]), asked[i], wanted[i])
            return 1
        return 0

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return sum(pool.map(one, plans))


def quiet(server):
    for name in ("outputs_running", "outputs_waiting"):
        server.until(name, 0)


def terminate(clients, wanted, asked, count=16):
    """What is under way ends as it would have."""
    server = clients.server
    before = server.metric("requests_total")
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        under_way = [pool.submit(clients.streamed if k % 2 else clients.whole, asked[k]) for k in range(count)]
        while server.metric("requests_total") < before + count:
            time.sleep(0.01)
        server.process.terminate()
        for k, one in enumerate(under_way):
            check(one.result(), asked[k], wanted[k])
    assert server.process.wait(60) == 0


class Timed:
    """A client of any server, which takes little of the machine's time itself: a connection, and JSON."""

    def __init__(self, url, fields, chat):
        self.path = url.path.rstrip("/") + ("/chat/completions" if chat else "/completions")
        self.connection = http.client.HTTPConnection(url.hostname, url.port, timeout=600)
        self.fields, self.chat = fields, chat

    def post(self, body):
        self.connection.request("POST", self.path, body, {"Content-Type": "application/json"})
        return self.connection.getresponse()

    def ask(self, prompt, stream):
        """(tokens, seconds to the first of them)"""
        asked = {"messages": [{"role": "user", "content": prompt}]} if self.chat else {"prompt": prompt}
        body = json.dumps({**self.fields, **asked, "stream": stream})
        began = time.monotonic()
        try:
            r = self.post(body)
        except (http.client.RemoteDisconnected, ConnectionResetError):  # closed after so many requests, as llama-server does
            self.connection.close()
            r = self.post(body)
        first = None
        while stream and first is None and (line := r.readline()):
            chunk = json.loads(line[6:]) if line.startswith(b"data: {") else {"choices": []}
            if any(c.get("text") or c.get("delta", {}).get("content") for c in chunk["choices"]):
                first = time.monotonic() - began
        body = r.read()
        if r.status != 200:
            raise SystemExit(f"{self.path}: {r.status} {body[:300]!r}")
        return 0 if stream else json.loads(body)["usage"]["completion_tokens"], first


def speed(a):
    url = urllib.parse.urlsplit(a.base_url)
    listed = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    listed.request("GET", url.path.rstrip("/") + "/models")
    model = json.loads(listed.getresponse().read())["data"][0]["id"]
    fields = {"model": model, "temperature": 0, "max_tokens": a.tokens}
    for name, value in (f.split("=", 1) for f in a.field):
        fields[name] = json.loads(value)
    prompts = (ROOT / "models/prompts" / ("smollm2.txt" if a.chat else "docs.txt")).read_text().splitlines()[:16]
    print(f"{model}: {len(prompts)} prompts a client, at most {a.tokens} tokens an output, medians of {a.repeats} runs\n"
          f"{'clients':>8} | {'tokens/s':>9} | {'first token, ms':>15}", flush=True)
    for count in a.counts:
        def one(k, stream):
            client = Timed(url, fields, a.chat)
            return [client.ask(prompts[(k + i) % len(prompts)], stream) for i in range(4 if stream else len(prompts))]

        rates, firsts = [], []
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            for run in range(-1, a.repeats):  # the first one counts nowhere
                began = time.monotonic()
                whole = [x for some in pool.map(lambda k: one(k, False), range(count)) for x in some]
                took = time.monotonic() - began
                streamed = [x for some in pool.map(lambda k: one(k, True), range(count)) for x in some]
                if run >= 0:
                    rates.append(sum(tokens for tokens, _ in whole) / took)
                    firsts += [first for _, first in streamed if first is not None]
        print(f"{count:>8} | {statistics.median(rates):>9.1f} | {1000 * statistics.median(firsts):>15.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/examples")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--base-url")
    parser.add_argument("--chat", action="store_true")
    parser.add_argument("--field", action="append", default=[])
    parser.add_argument("--counts", type=lambda s: [int(n) for n in s.split(",")], default=[1, 2, 4, 8, 16])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-n", "--tokens", type=int, default=48)
    parser.add_argument("flags", nargs="*")
    a = parser.parse_args()
    if a.base_url:
        return speed(a)
    test_serve.PROGRAMS = a.programs.resolve()
    server = test_serve.Server("--sequences", 16, "--context", 512, "--waiting", 1000, "--grace", 60, *a.flags)
    try:
        clients, asked = Clients(server), requests(44)
        wanted = [clients.whole(x) for x in asked]
        print(f"{len(asked)} requests alone, {sum(len(w) for w in wanted)} outputs", flush=True)
        for count in (1, 4, 16, 64):
            done = many(clients, wanted, asked, count, a.requests // 4, seed=count)
            quiet(server)
            print(f"{count} clients: {done} requests as alone", flush=True)
        done = many(clients, wanted, asked, 32, a.requests // 4, trouble=0.5)
        quiet(server)
        print(f"with hang-ups, slow readers and wrong input: {done} requests as alone, "
              f"{server.metric('outputs_abandoned_total')} outputs abandoned", flush=True)
        if a.minutes > 0:
            soak(server, clients, wanted, asked, a)
        terminate(clients, wanted, asked)
        print("SIGTERM among 16 requests: all as alone, exit status 0")
    finally:
        server.end()


def soak(server, clients, wanted, asked, a):
    began, done, round_ = time.monotonic(), 0, 100
    samples = [(0.0, 0, *rss(server.process))]
    while time.monotonic() - began < 60 * a.minutes:
        round_ += 1
        done += many(clients, wanted, asked, a.clients, 4 * a.clients, trouble=0.3, seed=round_)
        quiet(server)
        samples.append((round(time.monotonic() - began, 1), done, *rss(server.process)))
        if a.out:
            a.out.write_text("seconds,requests,KiB,threads,files\n" + "".join(",".join(map(str, s)) + "\n" for s in samples))
    quarter = max(1, len(samples) // 4)
    first, last = (statistics.median(s[2] for s in part) for part in (samples[quarter:2 * quarter] or samples, samples[-quarter:]))
    minute = next((s for s in samples if s[0] >= 60), samples[-1])
    print(f"{a.minutes:g} minutes, {a.clients} clients: {done} requests as alone, {server.metric('requests_total')} in all; memory "
          f"{samples[0][2]} KiB at the start, {minute[2]} KiB after a minute, {samples[-1][2]} KiB at the end; {first:.0f} KiB in the "
          f"second quarter, {last:.0f} KiB in the last; {samples[0][3]} and {samples[-1][3]} threads, {samples[0][4]} and "
          f"{samples[-1][4]} open files", flush=True)
    assert last <= 1.02 * first + 1024, "memory grows"
    assert samples[-1][3] <= samples[0][3] + 2 and samples[-1][4] <= samples[0][4] + 8, "threads or files leak"


if __name__ == "__main__":
    main()
