#!/usr/bin/env python3
"""The server as clients meet it: texts as alone, streams, seeds, wrong input, hang-ups, a graceful end.

usage: test_serve.py FOLDER_OF_PROGRAMS [unittest arguments]
"""
import array, concurrent.futures, contextlib, http.client, json, os, pathlib, random, re, shutil, signal, socket, struct, subprocess, sys, tempfile
import time, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import tensor_files

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve() if __name__ == "__main__" else None
COSTS = "--costs", "0.2,0.1,1,1.1,1.2,1.3,1.4"  # given, so that nothing is measured
PROMPTS = ["def f", "The :mod:`json` module", "class A", "Changed in version 3.8:", "Return a list of", "import os"]
LONG = 8192  # tokens, which take many seconds on any machine
LONG_TEXTS = "--sequences", 4, "--context", LONG, "--max-tokens", LONG
CHAT = ROOT / "models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf"


class Server:
    """specdec-serve on a port of its own."""

    def __init__(self, *arguments):
        command = [PROGRAMS / "specdec-serve", "--port", "0", "--threads", "1", *COSTS, *map(str, arguments)]
        with tempfile.TemporaryFile("w+") as wrong:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=wrong, cwd="/", text=True)
            self.said = self.process.stdout.readline()
            if not self.said:
                wrong.seek(0)
                raise AssertionError(f"{command}: {wrong.read()}")
        self.model, self.port = re.match(r"(.+) on http://127\.0\.0\.1:(\d+)/ ", self.said).groups()
        self.port = int(self.port)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()

    def send(self, method, path, body=None, headers=None):
        """(status, headers, body)"""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        c.request(method, path, body, headers or {})
        r = c.getresponse()
        out = r.status, dict(r.getheaders()), r.read()
        c.close()
        return out

    def post(self, fields, path="/v1/completions", **headers):
        fields = {"model": self.model, **fields} if isinstance(fields, dict) else fields
        body = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
        status, _, out = self.send("POST", path, body, {"Content-Type": "application/json", **headers})
        return status, json.loads(out)

    def ask(self, prompt, **fields):
        status, out = self.post({"prompt": prompt, **fields})
        if status != 200:
            raise AssertionError(out)
        return out

    def stream(self, fields, path="/v1/completions"):
        """The objects of a stream, which ends as promised."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        c.request("POST", path, json.dumps({"model": self.model, "stream": True, **fields}),
                  {"Content-Type": "application/json"})
        r = c.getresponse()
        raw = r.read()
        c.close()
        if r.status != 200:
            raise AssertionError(raw)
        events = [e for e in raw.decode().split("\n\n") if not e.startswith(":")]
        if events[-2:] != ["data: [DONE]", ""]:
            raise AssertionError(raw)
        return [json.loads(e.removeprefix("data: ")) for e in events[:-2]]

    def metric(self, name):
        text = self.send("GET", "/metrics")[2].decode()
        return int(re.search(rf"^specdec_{name} (\d+)$", text, re.M)[1])

    def until(self, name, value, seconds=10):
        for _ in range(int(seconds / 0.02)):
            if self.metric(name) == value:
                return
            time.sleep(0.02)
        raise AssertionError(f"{name} is {self.metric(name)}, not {value}")

    @contextlib.contextmanager
    def busy(self, outputs, **fields):
        """So many outputs run, of a text without an end, until the client hangs up. Of a server whose context is LONG."""
        body = json.dumps({"model": self.model, "prompt": "def f", "max_tokens": LONG - 100, "temperature": 0, "n": outputs,
                           "speculative": False, "stream": True, **fields})
        with socket.create_connection(("127.0.0.1", self.port)) as s:
            s.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
            self.until("outputs_running", outputs)
            yield


def text_of(chunks, choice=0):
    return "".join(c["text"] for chunk in chunks for c in chunk["choices"] if c["index"] == choice)


class Served(unittest.TestCase):
    arguments = "--sequences", 4, "--context", 512, "--max-tokens", 400

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.arguments)
        cls.addClassCleanup(cls.server.end)

    def tearDown(self):
        self.server.until("outputs_running", 0)
        self.server.until("outputs_waiting", 0)


def plain(prompt, n, *more):
    """What `generate` writes without a drafter."""
    done = subprocess.run([PROGRAMS / "generate", "--no-drafter", "-r", "autoregressive", "--threads", "1", "-n", str(n),
                           "-t", "0", "-p", prompt, "--json", *map(str, more)], stdout=subprocess.PIPE, cwd="/", check=True)
    return json.loads(done.stdout)


class Texts(Served):
    arguments = LONG_TEXTS

    def test_greedy_texts_are_those_without_a_drafter_alone_and_among_others(self):
        wanted = {}
        for i, prompt in enumerate(PROMPTS):
            alone = wanted[prompt] = plain(prompt, 20 + i)
            got = self.server.ask(prompt, max_tokens=20 + i, temperature=0)
            self.assertEqual(got["choices"][0]["text"], alone["text"])
            self.assertEqual(got["usage"]["completion_tokens"], alone["tokens"])
            self.assertEqual(got["usage"]["prompt_tokens"], alone["prompt_tokens"])

        def one(i):
            time.sleep(0.01 * i)
            prompt = PROMPTS[i % len(PROMPTS)]
            asked = {"prompt": prompt, "max_tokens": 20 + i % len(PROMPTS), "temperature": 0}
            if i % 2:
                return prompt, text_of(self.server.stream(asked))
            return prompt, self.server.ask(**asked)["choices"][0]["text"]

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for prompt, text in pool.map(one, range(24)):
                self.assertEqual(text, wanted[prompt]["text"])

    def test_a_seed_repeats_alone_and_among_others_and_without_drafts(self):
        asked = dict(max_tokens=30, temperature=0.8, top_p=0.95)
        alone = [self.server.ask(p, seed=i, **asked)["choices"][0]["text"] for i, p in enumerate(PROMPTS)]
        self.assertEqual(len(set(alone)), len(PROMPTS))

        def one(i):
            time.sleep(0.02 * (i % 5))
            k = i % len(PROMPTS)
            return k, self.server.ask(PROMPTS[k], seed=k, **asked, speculative=i % 4 != 0)["choices"][0]["text"]

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            for k, text in pool.map(one, range(18)):
                self.assertEqual(text, alone[k])
        self.assertNotEqual(self.server.ask(PROMPTS[0], seed=99, **asked)["choices"][0]["text"], alone[0])
        self.assertEqual(self.server.ask(PROMPTS[0], seed=-3, **asked)["choices"][0]["text"],
                         self.server.ask(PROMPTS[0], seed=-3, **asked)["choices"][0]["text"])
        some = {self.server.ask(PROMPTS[0], **asked)["choices"][0]["text"] for _ in range(4)}
        self.assertGreater(len(some), 1)  # without a seed they are not the same

    def test_several_choices_are_several_texts(self):
        asked = dict(prompt=PROMPTS[4], max_tokens=15, temperature=1, seed=4, n=3)
        whole = self.server.ask(**asked)
        texts = [c["text"] for c in whole["choices"]]
        self.assertEqual(len(set(texts)), 3)
        self.assertEqual([c["index"] for c in whole["choices"]], [0, 1, 2])
        chunks = self.server.stream({**asked, "stream_options": {"include_usage": True}})
        self.assertEqual([text_of(chunks, i) for i in range(3)], texts)
        self.assertEqual(chunks[-1]["choices"], [])
        self.assertEqual(chunks[-1]["usage"]["completion_tokens"], whole["usage"]["completion_tokens"])

    def test_it_ends_at_a_stop_string_and_sends_nothing_of_it(self):
        whole = self.server.ask(PROMPTS[4], max_tokens=40, temperature=0)["choices"][0]["text"]
        stop = whole[20:24]
        cut = whole[:whole.index(stop)]
        got = self.server.ask(PROMPTS[4], max_tokens=40, temperature=0, stop=stop)["choices"][0]
        self.assertEqual((got["text"], got["finish_reason"]), (cut, "stop"))
        chunks = self.server.stream({"prompt": PROMPTS[4], "max_tokens": 40, "temperature": 0, "stop": ["nowhere", stop]})
        self.assertEqual(text_of(chunks), cut)
        self.assertEqual(chunks[-1]["choices"][0]["finish_reason"], "stop")
        self.assertEqual(self.server.ask(PROMPTS[4], max_tokens=4, temperature=0)["choices"][0]["finish_reason"], "length")

    def test_log_probabilities_are_those_of_the_tokens(self):
        asked = dict(prompt=PROMPTS[2], max_tokens=12, temperature=0.7, seed=3, logprobs=2)
        whole = self.server.ask(**asked)
        p = whole["choices"][0]["logprobs"]
        self.assertEqual("".join(p["tokens"]), whole["choices"][0]["text"])
        self.assertEqual(len(p["tokens"]), whole["usage"]["completion_tokens"])
        self.assertTrue(all(x <= 0 for x in p["token_logprobs"]))
        self.assertTrue(all(1 <= len(t) <= 2 for t in p["top_logprobs"]))
        self.assertEqual(p["text_offset"], [len("".join(p["tokens"][:i])) for i in range(len(p["tokens"]))])
        streamed = [c["logprobs"] for chunk in self.server.stream(asked) for c in chunk["choices"] if c["logprobs"]]
        for name in p:
            self.assertEqual(sum((s[name] for s in streamed), []), p[name])

    def test_where_the_text_came_from(self):
        asked = dict(prompt=PROMPTS[1], max_tokens=60, temperature=0, origins=True)
        chunks = self.server.stream(asked)
        pieces = [p for chunk in chunks for c in chunk["choices"] for p in c.get("specdec", {}).get("pieces", [])]
        self.assertEqual("".join(p["text"] for p in pieces), text_of(chunks))
        self.assertLessEqual({p["origin"] for p in pieces}, {"drafter", "lookup", "target"})
        rounds = [r for chunk in chunks for c in chunk["choices"] for r in c.get("specdec", {}).get("rounds", [])]
        facts = chunks[-1]["choices"][0]["specdec"]
        self.assertEqual(facts["tokens"], 60)
        self.assertEqual(len(rounds), facts["target_passes"])
        self.assertEqual(sum(len(r["proposed"]) for r in rounds), facts["proposed"])
        written = "".join("".join(r["proposed"][:r["accepted"]]) + (r["target"] or "") for r in rounds)
        self.assertTrue(written.startswith(text_of(chunks)))  # the last round may go beyond max_tokens
        self.assertGreaterEqual(facts["tokens_per_pass"], 1)
        plain = self.server.stream({**asked, "speculative": False})
        self.assertEqual(text_of(plain), text_of(chunks))
        self.assertEqual(plain[-1]["choices"][0]["specdec"]["target_passes"], 60)
        self.assertTrue(all(not r["proposed"] for chunk in plain for c in chunk["choices"] for r in c["specdec"].get("rounds", [])))

    def test_an_object_of_json_is_one(self):
        whole = 0
        for seed in range(3):
            for got in self.server.ask("The settings as JSON:\n\n", max_tokens=300, temperature=1, seed=seed, n=8,
                                       response_format={"type": "json_object"})["choices"]:
                self.assertTrue(got["text"].startswith("{"))
                if got["finish_reason"] == "stop":  # seldom: the model knows no JSON
                    self.assertIsInstance(json.loads(got["text"]), dict)
                    whole += 1
        self.assertGreater(whole, 0)

    def test_a_schema_is_obeyed(self):
        schema = {"type": "object", "required": ["name", "tags", "ok"], "additionalProperties": False, "$defs": {"tag": {"enum": ["a", "b c"]}},
                  "properties": {"name": {"type": "string", "maxLength": 10}, "size": {"type": ["integer", "null"]},
                                 "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "maxItems": 3}, "ok": {"type": "boolean"}}}
        asked = dict(prompt="As JSON:\n\n", max_tokens=200, n=8,
                     response_format={"type": "json_schema", "json_schema": {"name": "thing", "strict": True, "schema": schema}})
        whole = 0
        for seed in range(3):
            got = self.server.ask(**asked, seed=seed)
            for choice in got["choices"]:
                if choice["finish_reason"] != "stop":
                    continue
                whole += 1
                thing = json.loads(choice["text"])
                self.assertEqual([k for k in thing if k != "size"], ["name", "tags", "ok"])
                self.assertLessEqual(len(thing["name"]), 10)
                self.assertLessEqual(set(thing["tags"]), {"a", "b c"})
                self.assertLessEqual(len(thing["tags"]), 3)
                self.assertIsInstance(thing["ok"], bool)
                self.assertIsInstance(thing.get("size"), (int, type(None)))
        self.assertGreater(whole, 12)
        plain = self.server.ask(**asked, seed=2, speculative=False)
        self.assertEqual([c["text"] for c in plain["choices"]], [c["text"] for c in got["choices"]])

    def test_a_prompt_that_is_there_is_not_fed_again(self):
        prompt = " ".join(PROMPTS) * 3
        self.server.ask(prompt, max_tokens=3, temperature=0)
        usage = self.server.ask(prompt, max_tokens=3, temperature=0)["usage"]
        self.assertEqual(usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"] - 1)

    def test_a_prompt_that_another_output_uses_is_copied(self):
        prompt = "Here begins what nobody else asks: " + " ".join(PROMPTS)
        begun = self.server.metric("first_tokens_total")
        with self.server.busy(1, prompt=prompt):
            self.server.until("first_tokens_total", begun + 1)
            usage = self.server.ask(prompt, max_tokens=1, temperature=0)["usage"]
            self.server.until("outputs_running", 1)  # the other one
        self.assertEqual(usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"] - 1)

    def test_only_whole_characters_are_sent(self):
        for seed in range(6):
            asked = dict(prompt="\u4f60\u597d \U0001f98a \u03ba\u03b1\u03b9 \u00e9", max_tokens=24, temperature=1.4, seed=seed)
            whole = self.server.ask(**asked)["choices"][0]["text"]
            chunks = self.server.stream(asked)
            self.assertEqual(text_of(chunks), whole)  # a character that is cut is two U+FFFD in place of it


class WrongInput(Served):
    def test_each_is_refused_by_its_field(self):
        right = {"prompt": "a", "max_tokens": 2}
        for change, status, field in (
                ({"prompt": None}, 400, "prompt"), ({"prompt": 3}, 400, "prompt"), ({"prompt": ["a"]}, 400, "prompt"),
                ({"model": "other"}, 404, "model"), ({"model": None}, 400, "model"), ({"max_tokens": 0}, 400, "max_tokens"),
                ({"max_tokens": 401}, 400, "max_tokens"), ({"max_tokens": 1.5}, 400, "max_tokens"),
                ({"temperature": -1}, 400, "temperature"), ({"temperature": "hot"}, 400, "temperature"),
                ({"temperature": 2.5}, 400, "temperature"), ({"top_p": 0}, 400, "top_p"), ({"top_p": 1.1}, 400, "top_p"),
                ({"n": 0}, 400, "n"), ({"n": 9}, 400, "n"), ({"seed": 1.5}, 400, "seed"), ({"seed": "x"}, 400, "seed"),
                ({"stop": ""}, 400, "stop"), ({"stop": ["a"] * 9}, 400, "stop"), ({"stop": [1]}, 400, "stop"),
                ({"stream": 1}, 400, "stream"), ({"stream_options": {}}, 400, "stream_options"),
                ({"stream": True, "stream_options": {"x": 1}}, 400, "stream_options.x"), ({"logprobs": 21}, 400, "logprobs"),
                ({"response_format": {"type": "json_schema"}}, 400, "response_format.json_schema"),
                ({"response_format": {"type": "grammar"}}, 400, "response_format.type"),
                ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, 400, "response_format.json_schema.schema"),
                ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"properties": {"a": {"pattern": "b"}}}}}},
                 400, "response_format.json_schema.schema.a.pattern"), ({"priority": 0.5}, 400, "priority"), ({"priority": "high"}, 400, "priority"),
                ({"response_format": "json"}, 400, "response_format"), ({"frequency_penalty": 0.5}, 400, "frequency_penalty"),
                ({"logit_bias": {"3": 1}}, 400, "logit_bias"), ({"best_of": 2}, 400, "best_of"), ({"echo": True}, 400, "echo"),
                ({"suffix": "x"}, 400, "suffix"), ({"temprature": 1}, 400, "temprature"), ({"prompt": ""}, 400, "request"),
                ({"prompt": "word " * 1000}, 400, "prompt")):
            got, out = self.server.post({**right, **change})
            with self.subTest(change=str(change)[:60]):
                self.assertEqual(got, status, out)
                if change != {"prompt": ""}:
                    self.assertEqual(out["error"]["param"], field, out)
                self.assertIn(field, out["error"]["message"])
                self.assertEqual(out["error"]["type"], "invalid_request_error")
        neutral = {"frequency_penalty": 0, "presence_penalty": 0.0, "logit_bias": {}, "best_of": 1, "echo": False, "suffix": None,
                   "user": "me", "stop": None, "seed": None, "n": None, "response_format": {"type": "text"}}
        self.assertEqual(self.server.post({**right, **neutral})[0], 200)

    def test_bodies_that_are_none(self):
        for body, said in ((b"", "expected JSON"), (b"{", "expected JSON"), (b"[]", "object"), (b'{"prompt": "\xff"}', "expected JSON"),
                           (b"[" * 100000, "64 levels"), (b'{"model": "a", "model": "b"}', "once"), (b"1e999", "expected JSON"),
                           (json.dumps({f"x{i}": 1 for i in range(1000)}).encode(), "100 fields")):
            status, out = self.server.post(body)
            self.assertEqual(status, 400, body[:40])
            self.assertIn(said, out["error"]["message"])
        status, _, out = self.server.send("POST", "/v1/completions", "x" * ((1 << 20) + 1), {"Content-Type": "application/json"})
        self.assertEqual(status, 413)
        self.assertIn("bytes", json.loads(out)["error"]["message"])
        status, _, out = self.server.send("POST", "/v1/completions", "{}", {"Content-Type": "text/plain"})
        self.assertEqual(status, 415, out)  # what a page of another origin may send
        self.assertEqual(self.server.send("GET", "/v1/completions")[0], 404)
        self.assertEqual(self.server.send("GET", "/v1/models", headers={"Host": "evil.example"})[0], 403)

    def test_noise_on_the_wire(self):
        rng = random.Random(5)
        right = json.dumps({"model": self.server.model, "prompt": "a", "max_tokens": 1}).encode()
        for _ in range(150):
            body = bytearray(right)
            for _ in range(rng.randint(1, 4)):
                body[rng.randrange(len(body))] = rng.randrange(256)
            self.assertIn(self.server.post(bytes(body))[0], (200, 400, 404))
        for raw in (b"\x00" * 100, b"GET\r\n\r\n", b"POST /v1/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                    b"POST /v1/completions HTTP/1.1\r\nContent-Length: 99\r\n\r\n{"):
            with socket.create_connection(("127.0.0.1", self.server.port)) as s:
                s.sendall(raw)
        self.assertEqual(self.server.send("GET", "/health")[0], 200)

    def test_a_model_without_a_chat_form_is_refused_by_name(self):
        status, out = self.server.post({"messages": [{"role": "user", "content": "Hi"}]}, "/v1/chat/completions")
        self.assertEqual(status, 400)
        self.assertIn("<|im_start|>", out["error"]["message"])
        for messages, field in (([], "messages"), ([{"role": "tool", "content": "x"}], "messages[0].role"),
                                ([{"role": "user"}], "messages[0].content"), ([{"role": "assistant", "content": "x"}], "messages"),
                                ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content[0].type"),
                                ([{"role": "user", "content": "x"}, {"role": "system", "content": "x"}], "messages[1].role")):
            status, out = self.server.post({"messages": messages}, "/v1/chat/completions")
            self.assertEqual((status, out["error"]["param"]), (400, field))


class Clients(Served):
    arguments = LONG_TEXTS

    def test_one_that_hangs_up_frees_its_sequence(self):
        for stream in (True, False):
            hung_up = self.server.metric("outputs_abandoned_total")
            with self.server.busy(4, stream=stream):
                pass
            self.server.until("outputs_running", 0, 5)
            self.assertEqual(self.server.metric("outputs_abandoned_total"), hung_up + 4)
        self.server.ask("a", max_tokens=2)

    def test_an_idle_connection_outlives_clients_pools(self):
        c = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        self.addCleanup(c.close)
        body = json.dumps({"model": self.server.model, "prompt": "a", "max_tokens": 1})

        def post():
            c.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
            r = c.getresponse()
            r.read()
            return r.status, r.getheader("Keep-Alive")

        status, promised = post()
        self.assertEqual(status, 200)
        self.assertGreater(int(re.match(r"timeout=(\d+)", promised)[1]), 5)  # httpx, and so OpenAI's package, keeps them for 5 s
        connection = c.sock
        time.sleep(5.2)
        self.assertEqual(post()[0], 200)
        self.assertIs(c.sock, connection)

    def test_the_page_and_what_is_counted(self):
        status, headers, page = self.server.send("GET", "/")
        self.assertEqual(status, 200)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertTrue(page.decode().rstrip().endswith("</html>"))
        self.assertNotIn("http://", page.decode())  # nothing from elsewhere
        self.assertEqual(json.loads(self.server.send("GET", "/health")[2]), {"status": "ok"})
        listed = json.loads(self.server.send("GET", "/v1/models")[2])["data"]
        self.assertEqual([m["id"] for m in listed], [self.server.model])
        self.assertEqual(json.loads(self.server.send("GET", f"/v1/models/{self.server.model}")[2])["id"], self.server.model)
        self.assertEqual(self.server.send("GET", "/v1/models/other")[0], 404)
        before = self.server.metric("tokens_total")
        self.server.ask("a", max_tokens=7, temperature=0)
        self.server.until("tokens_total", before + 7)


class Limits(unittest.TestCase):
    def test_too_many_are_refused_and_those_that_wait_are_served(self):
        server = Server("--sequences", 1, "--waiting", 2)
        self.addCleanup(server.end)
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            got = list(pool.map(lambda i: server.post({"prompt": "def f", "max_tokens": 400, "temperature": 0}), range(12)))
        statuses = [status for status, _ in got]
        self.assertLessEqual(set(statuses), {200, 429})
        self.assertGreaterEqual(statuses.count(200), 2)
        self.assertGreaterEqual(statuses.count(429), 1)
        self.assertEqual(len({out["choices"][0]["text"] for status, out in got if status == 200}), 1)
        self.assertEqual(server.metric("requests_refused_total"), statuses.count(429))

    def test_those_with_a_lower_number_are_begun_first(self):
        server = Server("--sequences", 1, "--context", LONG, "--max-tokens", LONG)
        self.addCleanup(server.end)
        ended = []

        def ask(priority):
            server.ask("def f", max_tokens=600, temperature=0, priority=priority)
            ended.append(priority)

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            with server.busy(1):
                for i, priority in enumerate((1, 2, 0, 2, -3)):
                    pool.submit(ask, priority)
                    server.until("outputs_waiting", i + 1)
        self.assertEqual(ended, [-3, 0, 1, 2, 2])

    def test_a_request_may_take_so_long(self):
        server = Server("--seconds", 1, "-r", "autoregressive", "--context", LONG, "--max-tokens", LONG)
        self.addCleanup(server.end)
        status, out = server.post({"prompt": "def f", "max_tokens": LONG - 10, "temperature": 0})
        self.assertEqual(status, 503)
        self.assertIn("too long", out["error"]["message"])

    def test_a_key_is_asked_for(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("secret-key\n")
            file.flush()
            server = Server("--api-key-file", file.name)
            self.addCleanup(server.end)
        asked = {"prompt": "a", "max_tokens": 1}
        self.assertEqual(server.post(asked)[0], 401)
        for wrong in ("Bearer secret-kez", "Bearer secret-key2", "Bearer ", "secret-key"):
            self.assertEqual(server.post(asked, Authorization=wrong)[0], 401)
        self.assertEqual(server.post(asked, Authorization="Bearer secret-key")[0], 200)
        self.assertEqual(server.send("GET", "/metrics")[0], 401)
        self.assertEqual(server.send("GET", "/health")[0], 200)

    def test_an_open_address_needs_a_key_and_a_taken_port_is_named(self):
        for arguments, said in ((("--host", "0.0.0.0"), "expected --api-key-file"), (("--rule", "sleme"), "expected one of")):
            done = subprocess.run([PROGRAMS / "specdec-serve", *COSTS, *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = subprocess.run([PROGRAMS / "specdec-serve", *COSTS, "--port", str(taken.getsockname()[1])], capture_output=True,
                                  text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected an address and a port that are free", done.stderr)


class Ends(unittest.TestCase):
    def test_what_is_under_way_ends_before_the_server_does(self):
        server = Server("--sequences", 2, "--context", 2048, "--max-tokens", 2048)
        self.addCleanup(server.end)
        asked = {"prompt": "def f", "max_tokens": 2000, "temperature": 0, "speculative": False}
        wanted = server.post(asked)[1]["choices"][0]["text"]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            streamed = pool.submit(server.stream, asked)
            whole = pool.submit(server.post, asked)
            server.until("outputs_running", 2)
            server.process.terminate()
            self.assertEqual(text_of(streamed.result()), wanted)
            self.assertEqual(whole.result()[1]["choices"][0]["text"], wanted)
        self.assertEqual(server.process.wait(20), 0)
        self.assertRaises(ConnectionError, server.send, "GET", "/health")

    def test_its_patience_has_an_end(self):
        server = Server("--grace", 0, "--sequences", 2, "--context", LONG, "--max-tokens", LONG)
        self.addCleanup(server.end)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            whole = pool.submit(server.post, {"prompt": "def f", "max_tokens": LONG - 10, "temperature": 0, "n": 2})
            server.until("outputs_running", 2)
            server.process.terminate()
            status, out = whole.result()
        self.assertEqual(server.process.wait(20), 0)
        self.assertEqual((status, out["error"]["type"]), (503, "server_error"))


def adapt(folder, target, module, seed):
    """Draws adapters of one projection, `folder`/adapters, and merges them into the target's weights, `folder`/merged."""
    rng, rank, alpha = random.Random(seed), 2, 3
    draw = lambda rows, columns: [[rng.uniform(-0.3, 0.3) for _ in range(columns)] for _ in range(rows)]
    floats = lambda rows: struct.pack(f"<{len(rows) * len(rows[0])}f", *(x for row in rows for x in row))
    adapters, merged = {}, tensor_files.read(target / "model.safetensors")
    for name, (kind, (rows, columns), data) in [t for t in merged.items() if module in t[0]]:
        assert kind == "BF16"
        a, b = draw(rank, columns), draw(rows, rank)
        prefix = "base_model.model." + name.removesuffix("weight")
        adapters[prefix + "lora_A.weight"] = "F32", [rank, columns], floats(a)
        adapters[prefix + "lora_B.weight"] = "F32", [rows, rank], floats(b)
        wide = array.array("I", (h << 16 for h in array.array("H", data))).tobytes()
        w = struct.unpack(f"<{rows * columns}f", wide)
        merged[name] = "F32", [rows, columns], floats(
            [[w[i * columns + j] + alpha / rank * sum(b[i][k] * a[k][j] for k in range(rank)) for j in range(columns)] for i in range(rows)])
    shutil.copytree(target, folder / "merged")
    tensor_files.write(folder / "merged/model.safetensors", merged)
    (folder / "adapters").mkdir()
    tensor_files.write(folder / "adapters/adapter_model.safetensors", adapters)
    (folder / "adapters/adapter_config.json").write_text(json.dumps(
        {"peft_type": "LORA", "r": rank, "lora_alpha": alpha, "target_modules": [module], "bias": "none"}))


class Adapters(Served):
    """Two adapters over one target, by the names of models. In F32, where what is merged rounds as what is not."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.target, cls.folder = ROOT / "models/docs-target", pathlib.Path(folder.name)
        flags = []
        for seed, (name, module) in enumerate((("first", "v_proj"), ("second/b", "o_proj"))):
            (cls.folder / str(seed)).mkdir()
            adapt(cls.folder / str(seed), cls.target, module, seed)
            flags += "--target-adapter", f"{name}={cls.folder / str(seed) / 'adapters'}"
        cls.arguments = *LONG_TEXTS, "--precision", "f32", *flags
        super().setUpClass()
        cls.models = {cls.server.model: cls.target, "first": cls.folder / "0/merged", "second/b": cls.folder / "1/merged"}

    def test_each_writes_what_its_merged_model_writes_also_among_others(self):
        asked = [(model, prompt) for model in self.models for prompt in PROMPTS[:3]]
        wanted = {(model, prompt): plain(prompt, 24, "--precision", "f32", "--target", self.models[model])["text"] for model, prompt in asked}
        self.assertEqual(len(set(wanted.values())), len(asked))

        def one(i):
            model, prompt = asked[i % len(asked)]
            fields = {"model": model, "prompt": prompt, "max_tokens": 24, "temperature": 0, "speculative": i % 4 != 3}
            if i % 2:
                return asked[i % len(asked)], text_of(self.server.stream(fields))
            got = self.server.ask(**fields)
            self.assertEqual(got["model"], model)
            return asked[i % len(asked)], got["choices"][0]["text"]

        for i in range(len(asked)):
            self.assertEqual(one(i)[1], wanted[asked[i]])
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for key, text in pool.map(one, range(4 * len(asked))):
                self.assertEqual(text, wanted[key])

    def test_a_seed_repeats_without_drafts(self):
        asked = dict(prompt=PROMPTS[0], model="first", seed=5, temperature=0.9, max_tokens=30)
        texts = [self.server.ask(**asked, speculative=drafts)["choices"][0]["text"] for drafts in (True, False)]
        self.assertEqual(*texts)
        self.assertNotEqual(texts[0], self.server.ask(**{**asked, "model": "second/b"})["choices"][0]["text"])

    def test_they_share_no_prefix(self):
        prompt = "A prompt of this test alone: " + " ".join(PROMPTS)

        def cached(model):
            usage = self.server.ask(prompt, model=model, max_tokens=2, temperature=0)["usage"]
            return usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"] - 1

        for model in self.models:
            held, most = cached(model)
            self.assertLess(held, 4)  # a BOS, or the beginning of a word
            self.assertEqual(cached(model), (most, most))
        with self.server.busy(1, model="first", prompt=prompt + " and another end"):  # nor with one that runs
            self.assertEqual(cached("second/b"), (most, most))
            self.server.until("outputs_running", 1)

    def test_they_are_listed_and_others_are_not_there(self):
        listed = json.loads(self.server.send("GET", "/v1/models")[2])["data"]
        self.assertEqual([(m["id"], m.get("parent")) for m in listed],
                         [(self.server.model, None), ("first", self.server.model), ("second/b", self.server.model)])
        self.assertEqual(json.loads(self.server.send("GET", "/v1/models/second/b")[2]), listed[2])
        status, out = self.server.post({"model": "third", "prompt": "a"})
        self.assertEqual((status, out["error"]["param"]), (404, "model"))
        self.assertIn(f'one of "{self.server.model}", "first", "second/b"', out["error"]["message"])

    def test_what_does_not_fit_is_named(self):
        good, narrow = self.folder / "0/adapters", self.folder / "narrow"
        shutil.copytree(good, narrow)
        tensors = tensor_files.read(good / "adapter_model.safetensors")
        name = next(n for n in tensors if "lora_A" in n)
        kind, (rank, columns), data = tensors[name]
        tensor_files.write(narrow / "adapter_model.safetensors", {**tensors, name: (kind, [rank, columns // 2], data[:len(data) // 2])})
        for flags, said in ((("first",), "--target-adapter: first: expected NAME=FOLDER"), (("=" + str(good),), "expected NAME=FOLDER"),
                            ((f"a={good}", f"a={good}"), "--target-adapter: a: expected a name that no other model has"),
                            ((f"{self.server.model}={good}",), "expected a name that no other model has"),
                            (("a=/nowhere",), "/nowhere/adapter_config.json"),
                            ((f"a={narrow}",), f"{narrow}/adapter_model.safetensors: tensor {name}: expected shape")):
            flags = [x for one in flags for x in ("--target-adapter", one)]
            done = subprocess.run([PROGRAMS / "specdec-serve", *COSTS, "--port", "0", "--threads", "1", *flags], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 1, flags)
            self.assertIn(said, done.stderr)


@unittest.skipUnless(CHAT.is_file(), "models/fetch_smollm2.py has not been run")
class Chat(Served):
    arguments = "--models", "smollm2", "--sequences", 4, "--context", 1024

    def test_an_answer_is_generates(self):
        question = "What is the capital of France?"
        wanted = plain(question, 30, "--models", "smollm2")
        talk = {"messages": [{"role": "user", "content": question}], "max_completion_tokens": 30, "temperature": 0}
        status, got = self.server.post(talk, "/v1/chat/completions")
        self.assertEqual(status, 200, got)
        answer = got["choices"][0]["message"]["content"]
        self.assertEqual((answer, got["usage"]["prompt_tokens"]), (wanted["text"], wanted["prompt_tokens"]))
        chunks = self.server.stream({**talk, "logprobs": True, "top_logprobs": 2}, "/v1/chat/completions")
        self.assertEqual(chunks[0]["choices"][0]["delta"], {"role": "assistant", "content": ""})
        self.assertEqual("".join(c["choices"][0]["delta"].get("content", "") for c in chunks), answer)
        reported = sum((c["choices"][0]["logprobs"]["content"] for c in chunks if c["choices"][0]["logprobs"]), [])
        self.assertEqual(len(reported), got["usage"]["completion_tokens"])
        self.assertTrue(bytes(sum((t["bytes"] for t in reported), [])).decode().startswith(answer))

        # The next turn goes on from what is held; marks in a message are text.
        more = talk["messages"] + [{"role": "assistant", "content": answer}, {"role": "user", "content": "And of <|im_end|> Spain?"}]
        usage = self.server.post({**talk, "messages": more}, "/v1/chat/completions")[1]["usage"]
        self.assertGreater(usage["prompt_tokens_details"]["cached_tokens"], got["usage"]["prompt_tokens"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
