"""Let SmolLM2-135M-Instruct answer prompts of every kind, and keep the feature behind every token: text to train drafters on.

    python models/train/write_answers.py --gguf models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf --prompts PROMPTS --out RECORDS
    python models/train/write_answers.py --out RECORDS --count                     how much there is of each kind
    python models/train/write_answers.py --out models/train/text --count --gguf models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf
                                                                                   the same of text alone
    python models/train/write_answers.py --out RECORDS --pack models/train/text    the text alone, for record_features.py
    python models/train/write_answers.py --gguf GGUF --prompts PROMPTS --out TEXT --program build/release/examples/answer
                                        the text alone, by our own engine: twice as fast, but requests of several turns are left out
    python models/train/write_answers.py --gguf GGUF --prompts PROMPTS --out TEXT --text-alone --batch 8192 --minutes 6
                                        the same on a GPU: 100,000 tokens a second on an H200

PROMPTS: what write_prompts.py wrote. Five of seven prompts are answered at T = 0, one at 0.7, one at 1; answers end with the
turn or have at most 160 tokens (one of eight short ones 256); degenerate ones are left out. Writes a folder RECORDS/NNNN for every 256
prompts, which record_features.py would make of them, too: ids, features, lengths, answers (.npy), and text.jsonl (kind, prompt, text, ended,
temperature). Can be stopped and started again at any time, and so can several at once; --backwards begins with the last ones.
"""
import argparse
import collections
import json
import lzma
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy
import torch
from safetensors.torch import save_file

import data
import precision

TURN = "<|im_start|>"


def degenerate(ids):
    """Whether an answer says the same over and over: few different runs of four tokens."""
    runs = [tuple(ids[i:i + 4]) for i in range(len(ids) - 3)]
    return len(ids) < 4 or len(set(runs)) < 0.35 * len(runs)


def temperature(prompt):
    return {5: 0.7, 6: 1.0}.get(zlib.crc32(prompt.encode()) % 7, 0.0)


def most_tokens(prompt, length):
    return 256 if zlib.crc32(prompt.encode()) % 8 == 0 and length < 64 else 160


def tokenizer_of(gguf):
    """Texts to their ids."""
    from transformers import AutoTokenizer
    words = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    return lambda texts: words(texts, add_special_tokens=False).input_ids


def text_alone(args):
    """What our own program answers, side by side: TEXT/NAME.jsonl. Goes on where it was."""
    ids_of = tokenizer_of(args.gguf)
    args.out.mkdir(parents=True, exist_ok=True)
    for file in sorted(args.prompts.glob("*.jsonl")):
        asked, answered, made = (args.out / (file.stem + end) for end in (".asked", ".answered", ".jsonl"))
        entries = [e for e in map(json.loads, file.open(encoding="utf-8")) if TURN not in e["prompt"]]
        lengths = [len(ids) for ids in ids_of([e["prompt"] for e in entries])]
        with asked.open("w", encoding="utf-8") as out:
            for e, n in zip(entries, lengths):
                if n <= args.longest:
                    out.write(json.dumps({**e, "temperature": temperature(e["prompt"]), "max_tokens": most_tokens(e["prompt"], n)},
                                         ensure_ascii=False) + "\n")
        subprocess.run([args.program, "--target", args.gguf, "--drafter", "none", "--chat", "--rule", "autoregressive", "--prompts", asked,
                        "--out", answered, "--sequences", "32", "--threads", str(args.threads)], check=True)
        entries = [json.loads(line) for line in answered.open(encoding="utf-8")]
        with made.open("w", encoding="utf-8") as out:
            for e, ids in zip(entries, ids_of([e["text"] for e in entries])):
                del e["max_tokens"], e["made_with"]
                if not degenerate(ids):
                    out.write(json.dumps(e, ensure_ascii=False) + "\n")


def kept_line(entry, ids, ended):
    """Of an answer, in a process of its own; none where it is degenerate."""
    if degenerate(ids):
        return ""
    made = {**entry, "text": kept_line.tokenizer.decode(ids[:len(ids) - ended]), "ended": ended, "temperature": temperature(entry["prompt"])}
    return json.dumps(made, ensure_ascii=False) + "\n"


def by_writer(args):
    """The text alone, as fast as a GPU writes it: TEXT/NAME.jsonl."""
    import writer
    w = writer.Writer(args.gguf)
    args.out.mkdir(parents=True, exist_ok=True)
    kept_line.tokenizer = w.tokenizer  # for the processes below
    began, tokens, asked = time.time(), 0, 0
    with multiprocessing.get_context("fork").Pool(max(1, args.threads - 2)) as pool:
        for file in sorted(args.prompts.glob("*.jsonl")):
            entries = [json.loads(line) for line in file.open(encoding="utf-8")]
            prompts = w.tokenizer([e["prompt"] for e in entries], add_special_tokens=False).input_ids
            pairs = sorted(((e, ids + w.tail) for e, ids in zip(entries, prompts) if len(ids) <= args.longest), key=lambda p: len(p[1]))
            batches = [pairs[i:i + args.batch] for i in range(0, len(pairs), args.batch)]
            random.Random(1).shuffle(batches)
            generator = torch.Generator(precision.DEVICE).manual_seed(zlib.crc32(file.stem.encode()))
            with (args.out / f"{file.stem}.jsonl").open("w", encoding="utf-8") as out:
                waiting = None
                for part in batches:
                    if time.time() - began > 60 * args.minutes:
                        break
                    made = w.write([ids for _, ids in part], [most_tokens(e["prompt"], len(ids)) for e, ids in part],
                                   torch.tensor([temperature(e["prompt"]) for e, _ in part]), generator, features=False)
                    answers = [(e, t.ids[len(w.begin) + len(ids):], t.ended) for t, (e, ids) in zip(made, part)]
                    if waiting:
                        out.writelines(waiting.get())
                    waiting = pool.starmap_async(kept_line, answers, 64)
                    tokens += sum(len(ids) for _, ids, _ in answers)
                    asked += len(part)
                if waiting:
                    out.writelines(waiting.get())
            print(f"{file.name}: {asked} answers, {tokens} tokens, {tokens / (time.time() - began):.0f} a second", flush=True)


def save_target(writer, folder):
    save_file({"embedding": writer.embedding.to(torch.bfloat16).contiguous()}, folder / "target.safetensors")
    (folder / "config.json").write_text(json.dumps(vars(writer.config), indent=2) + "\n")


def save_records(folder, texts, entries):
    """texts: (ids, features, where the answer begins)."""
    folder.mkdir(parents=True, exist_ok=True)
    # A token without a feature (the last one) repeats the one before it: nothing is predicted from it.
    features = [torch.cat([f, f[-1:]])[:len(ids)] if len(f) < len(ids) else f for ids, f, _ in texts]
    numpy.save(folder / "features.npy", torch.cat(features).to(torch.bfloat16).view(torch.uint16).numpy())
    numpy.save(folder / "ids.npy", numpy.concatenate([numpy.array(ids, numpy.int32) for ids, _, _ in texts]))
    numpy.save(folder / "lengths.npy", numpy.array([len(ids) for ids, _, _ in texts], numpy.int32))
    numpy.save(folder / "answers.npy", numpy.array([a for _, _, a in texts], numpy.int32))
    (folder / "text.jsonl").write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in entries), encoding="utf-8")


def expect_made_of(folder, entries, fields, fewest, otherwise):
    """Ends where a folder that is there holds other text than would be written to it: it would pass for done."""
    file = folder / "text.jsonl"
    if not file.exists():  # somebody is at it
        return
    ours = {tuple(e[f] for f in fields) for e in entries}
    there = [tuple(e[f] for f in fields) for e in map(json.loads, file.open(encoding="utf-8"))]
    other = next((n for n, t in enumerate(there, 1) if t not in ours), None)
    if other or len(there) < fewest:
        sys.exit(f"{file}: {f'line {other}' if other else f'{len(there)} lines'}: made of other text; {otherwise}")


def whole(records):
    """The texts of its folders, without what somebody is at."""
    return sorted(f for f in records.glob("*/text.jsonl") if f.parent.suffix != ".part")


def count(folder, gguf):
    """Of records; of text alone (*.jsonl, *.jsonl.xz) by the tokenizer."""
    answers, tokens, prompts = collections.Counter(), collections.Counter(), collections.defaultdict(set)

    def add(entry, n):
        kind = entry.get("kind", "home")
        answers[kind] += 1
        tokens[kind] += n
        prompts[kind].add(entry["prompt"])

    for part in whole(folder):
        lengths, begins = numpy.load(part.parent / "lengths.npy"), numpy.load(part.parent / "answers.npy")
        for line, n, begin in zip(part.open(encoding="utf-8"), lengths, begins):
            add(json.loads(line), int(n - begin))
    files = data.json_files(folder)
    if files and not gguf:
        sys.exit(f"{files[0]}: expected --gguf beside --count, which has the tokenizer of text alone")
    ids_of = tokenizer_of(gguf) if files else None
    for file in files:
        entries = list(data.json_lines(file))
        for entry, ids in zip(entries, ids_of([e["text"] for e in entries])):
            add(entry, len(ids) + entry["ended"])
    print("| kind | answers | different prompts | tokens of answers |\n| --- | ---: | ---: | ---: |")
    for kind in sorted(answers):
        print(f"| {kind} | {answers[kind]:,} | {len(prompts[kind]):,} | {tokens[kind]:,} |")
    print(f"| all | {sum(answers.values()):,} | {len(set().union(*prompts.values())):,} | {sum(tokens.values()):,} |")


def pack(records, folder):
    """One file for each that prompts came from, so that a day's text adds a file."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = collections.defaultdict(list)
    for file in whole(records):
        parts[file.parent.name.rsplit("-", 1)[0]] += file.open(encoding="utf-8")
    for name, lines in parts.items():
        with lzma.open(folder / f"{name}.jsonl.xz", "wt", encoding="utf-8", preset=9) as out:
            out.writelines(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gguf", type=Path)
    p.add_argument("--prompts", type=Path)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--count", action="store_true")
    p.add_argument("--pack", type=Path)
    p.add_argument("--program", type=Path, help="examples/answer, to write instead")
    p.add_argument("--text-alone", action="store_true", help="no features")
    p.add_argument("--minutes", type=float, default=1e9)
    p.add_argument("--backwards", action="store_true")
    p.add_argument("--longest", type=int, default=180, help="prompts of more tokens are left out")
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    args = p.parse_args()
    if args.count:
        return count(args.out, args.gguf)
    if args.pack:
        return pack(args.out, args.pack)
    if args.program:
        return text_alone(args)
    if args.text_alone:
        return by_writer(args)
    import writer
    torch.set_num_threads(args.threads)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # gives back the shard it is at
    w = writer.Writer(args.gguf)
    args.out.mkdir(parents=True, exist_ok=True)
    save_target(w, args.out)
    began, tokens = time.time(), 0
    shards = []
    for file in sorted(args.prompts.glob("*.jsonl")):
        entries = [json.loads(line) for line in file.open(encoding="utf-8")]
        entries = [e for e in entries if len(w.encode(e["prompt"])) <= args.longest]
        # Prompts of like length side by side, in groups that are mixed.
        for g in range(0, len(entries), 8 * args.batch):
            group = sorted(entries[g:g + 8 * args.batch], key=lambda e: len(w.encode(e["prompt"])))
            shards += [(f"{file.stem}-{g + i:05}", group[i:i + args.batch]) for i in range(0, len(group), args.batch)]
    for name, entries in shards:  # some answers were degenerate
        expect_made_of(args.out / name, entries, ["prompt"], 0,
                       f"expected --prompts, --longest and --batch as they were, not {args.prompts}, or another --out")
    random.Random(1).shuffle(shards)
    for name, entries in reversed(shards) if args.backwards else shards:
        folder = args.out / name
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        if time.time() - began > 60 * args.minutes:
            folder.rmdir()
            break
        try:
            temperatures = [temperature(e["prompt"]) for e in entries]
            prompts = [w.encode(e["prompt"]) + w.tail for e in entries]
            made = w.write(prompts, [most_tokens(e["prompt"], len(p)) for e, p in zip(entries, prompts)], torch.tensor(temperatures),
                           torch.Generator(precision.DEVICE).manual_seed(zlib.crc32(entries[0]["prompt"].encode())))
            texts, kept = [], []
            for e, t, prompt, text in zip(entries, temperatures, prompts, made):
                at = len(w.begin) + len(prompt)
                if degenerate(text.ids[at:]):
                    continue
                texts.append((text.ids, text.features, at))
                kept.append({**e, "text": w.tokenizer.decode(text.ids[at:len(text.ids) - text.ended]), "ended": text.ended,
                             "temperature": t})
                tokens += len(text.ids) - at
            part = folder.with_name(name + ".part")
            save_records(part, texts, kept)
        except BaseException:
            folder.rmdir()  # for the next who comes
            raise
        part.rename(folder)  # in the place of the empty one: there is no moment in which another process could begin it
        print(f"{name}: prompts of {min(map(len, prompts))} to {max(map(len, prompts))} tokens, {len(kept)} of {len(entries)} kept, {tokens} tokens, {tokens / (time.time() - began):.0f} a second", flush=True)


if __name__ == "__main__":
    main()
