"""Text to batches of token ids with a weight for every predicted token.

Three kinds of input, told apart by the file names in a folder (*.jsonl also as *.jsonl.xz):
  *.txt            one document a file
  *.jsonl with --chat   {"prompt", "text", "ended"}: a SmolLM2 conversation; the answer has weight 1
  *.jsonl without       {"prompt", "text", "ended"}: the text goes on from the prompt; with "plain": true also among
                        conversations
"""
import json
import lzma
import random
import zlib

import torch

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


class Plain(str):
    """A prompt without the chat template."""


def conversation(prompt):
    """SmolLM2's chat template with its default system message, up to where the answer starts."""
    return (f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n"
            "<|im_start|>assistant\n")


def json_files(folder):
    return sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.xz")])


def json_lines(file):
    with (lzma.open if file.suffix == ".xz" else open)(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def read_jsonl(file):
    return [((Plain if e.get("plain") else str)(e["prompt"]), e["text"], e["ended"]) for e in json_lines(file)]


def read(folder):
    """[(prompt, text, ended)]; a plain document has an empty prompt."""
    entries = [("", f.read_text(encoding="utf-8"), True) for f in sorted(folder.glob("*.txt"))]
    for f in json_files(folder):
        entries += read_jsonl(f)
    if not entries:
        raise SystemExit(f"no *.txt, *.jsonl or *.jsonl.xz in {folder}")
    return entries


def encode(tokenizer, end, entries, chat=False, prompt_weight=1.0):
    """[(ids, weights)]. `end` is the id that closes a text that has ended."""
    documents = []
    framed = [chat and not isinstance(prompt, Plain) for prompt, _, _ in entries]
    ids_of = lambda texts: (e.ids for i in range(0, len(texts), 4096) for e in tokenizer.encode_batch_fast(texts[i:i + 4096]))
    heads = ids_of([conversation(prompt) if f else "" for f, (prompt, _, _) in zip(framed, entries)])
    # Without a chat frame the prompt and its continuation are one text: encoded as one.
    bodies = ids_of([text if f else prompt + text for f, (prompt, text, _) in zip(framed, entries)])
    for head, body, (_, _, ended) in zip(heads, bodies, entries):
        ids = head + body + [end] * ended
        if len(ids) > 2:
            documents.append((ids, [prompt_weight] * len(head) + [1.0] * (len(ids) - len(head))))
    return documents


SPLIT = 7  # of all runs: texts that are drawn anew are not new to weights that have learnt them


def split(entries, part, seed):
    """(train, held out): all entries with one prompt go to the same side, which depends on nothing but the prompt and
    the seed: text that comes later moves none."""
    held = {p for p, _, _ in entries if p and zlib.crc32(f"{seed} {p}".encode()) < part * 2**32}
    return [e for e in entries if e[0] not in held], [e for e in entries if e[0] in held]


def pieces(documents, length, rng):
    """Documents cut into windows of at most length + 1 tokens, from a random offset each time."""
    out = []
    for ids, weights in documents:
        start = 0 if len(ids) <= length + 1 or rng is None else -rng.randrange(length)
        while start < len(ids) - 1:
            a, b = max(start, 0), min(start + length + 1, len(ids))
            if b - a > 2:
                out.append((ids[a:b], weights[a:b]))
            start += length
    return out


def together(items, length, tokens):
    """Items of like length in batches of about `tokens` tokens each, padding included."""
    made, batch = [], []
    for item in sorted(items, key=length, reverse=True):
        if batch and (len(batch) + 1) * length(batch[0]) > tokens:
            made.append(batch)
            batch = []
        batch.append(item)
    return made + [batch]


def batches(documents, length, tokens, rng=None):
    """One pass: (input ids, wanted ids, weights), about `tokens` tokens each, windows of like length together."""
    windows = pieces(documents, length, rng)
    if rng:
        rng.shuffle(windows)
    group = max(1000, tokens // 8)
    made = []
    for g in range(0, len(windows), group):
        made += together(windows[g:g + group], lambda w: len(w[0]) - 1, tokens)
    if rng:
        rng.shuffle(made)
    for batch in made:
        longest = len(batch[0][0])
        ids = torch.tensor([i + [0] * (longest - len(i)) for i, _ in batch])
        weights = torch.tensor([w + [0.0] * (longest - len(w)) for _, w in batch])
        yield ids[:, :-1], ids[:, 1:], weights[:, 1:]


def endless(documents, length, tokens, seed):
    rng = random.Random(seed)
    while True:
        yield from batches(documents, length, tokens, rng)
