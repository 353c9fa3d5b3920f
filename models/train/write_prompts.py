"""Write prompts of every kind, for write_answers.py: the target's own, and those of the templates in kinds.py.

    python models/train/write_prompts.py --gguf models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf --wordnet /usr/share/wordnet \
        --docs TEXT/train --answers CHAT --out PROMPTS --own 4000 --templates 6000

Given the chat form and two or three words of a user's turn, an aligned model writes the rest of a question (Magpie, arXiv
2406.08464). --own so many are asked of it, about six of ten are kept. CHAT: *.jsonl that it answered before, quoted in requests
to rewrite, to summarise and the like; what it was asked there is not asked again. Every call adds PROMPTS/NNNN.jsonl (kind, prompt),
none of which is there already; --seed has to be another each time. --kinds questions conversation: these alone. --home: so many for
stories and explanations, of the templates in prompts.py with WordNet's heroes and subjects.
"""
import argparse
import json
import os
import random
from pathlib import Path

import torch

import data
import kinds
import precision
import prompts

TAIL = 60  # tokens of a prompt
LONG = ("summaries", "extraction", "rewriting", "explained programs", "programs", "letters")  # may be longer


def begin(kind, words, rng):
    opening = rng.choice(kinds.OPENINGS[kind])
    return opening + (f" {rng.choice(words)}" if not opening.endswith(("\n", "def")) and rng.random() < 0.35 else "")


def own(gguf, wanted, words, shares, rng, batch, done):
    import writer
    w = writer.Writer(gguf)
    generator = torch.Generator(precision.DEVICE).manual_seed(rng.randrange(1 << 40))
    names = [k for k in kinds.OPENINGS for _ in range(shares.get(k, 0))]
    asked = sorted(((k, begin(k, words, rng)) for k in (rng.choice(names) for _ in range(wanted))), key=lambda a: a[0] in LONG)
    for at in range(0, len(asked), batch):
        part = asked[at:at + batch]
        most = [120 if k in LONG else TAIL for k, _ in part]
        made = w.write([w.encode(o) for _, o in part], most, torch.full((len(part),), 0.9), generator, 64, 0.08, False)
        for (kind, opening), text in zip(part, made):
            ids = text.ids[len(w.begin):]
            prompt = w.tokenizer.decode(ids[:-1] if text.ended else ids)
            if not text.ended:
                if kind not in ("summaries", "extraction", "rewriting") or "." not in prompt:
                    continue
                prompt = prompt[:prompt.rindex(".") + 1]
            prompt = prompt.strip()
            if len(prompt) > len(opening) + 3:
                yield kind, prompt
        done(at + len(part), wanted)


def home(parts, measured, rng):
    """A story whose hero does this thing in no prompt that is measured, or an explanation of another subject than theirs."""
    if rng.random() < 0.6:
        deed, prompt = prompts.story(rng, {"animals": parts["animal"], "people": parts["person"]})
        return None if deed in measured else prompt
    subject = rng.choice(parts["noun"])
    return None if subject in prompts.SUBJECTS + prompts.NEW_SUBJECTS else rng.choice(prompts.EXPLANATIONS).format(subject)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gguf", type=Path, required=True)
    p.add_argument("--wordnet", type=Path, required=True)
    p.add_argument("--docs", type=Path, help="of corpus.py, its training part")
    p.add_argument("--answers", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--own", type=int, default=4000)
    p.add_argument("--templates", type=int, default=6000)
    p.add_argument("--home", type=int, default=0)
    p.add_argument("--kinds", nargs="+", choices=kinds.SHARES, default=list(kinds.SHARES))
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    rng = random.Random(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    answers = [e for e in data.read(args.answers) if not isinstance(e[0], data.Plain)]
    old = [json.loads(line)["prompt"] for f in args.out.glob("*.jsonl") for line in f.open(encoding="utf-8")]
    old += [prompt for prompt, _, _ in answers]
    measured = {line for f in (Path(__file__).resolve().parents[1] / "prompts").rglob("*.txt")
                for line in f.read_text(encoding="utf-8").splitlines()}
    begins = lambda prompt: " ".join(prompt.lower().split()[:12])
    seen = {*old, *map(begins, old)}
    maker = kinds.Maker(args.wordnet, answers, args.docs)
    found = []

    def add(kind, prompt, same):
        if kinds.good(prompt) and prompt not in measured and same not in seen:
            seen.update((prompt, begins(prompt)))
            found.append({"kind": kind, "prompt": prompt})

    shares = {k: kinds.SHARES[k] for k in args.kinds}
    for kind in rng.choices(list(shares), [n * (4 if k == "turns" else 1) for k, n in shares.items()], k=args.templates):
        prompt = maker.prompt(kind, rng)
        add(kind, prompt, prompt)
    whole = "\n".join(measured)
    while (told := sum(e["kind"] == "home" for e in found)) < args.home:
        for prompt in filter(None, (home(maker.parts, whole, rng) for _ in range(args.home - told))):
            add("home", prompt, prompt)
    print(f"{len(found)} from templates", flush=True)
    begun = len(found)
    progress = lambda n, of: print(f"{n} of {of} asked, {len(found) - begun} kept", flush=True)
    for kind, prompt in own(args.gguf, args.own, maker.parts["noun"], shares, rng, args.batch, progress) if args.own else ():
        add(kind, prompt, begins(prompt))
    rng.shuffle(found)
    last = max((int(f.stem) for f in args.out.glob("*.jsonl") if f.stem.isdecimal()), default=-1)
    name = args.out / f"{last + 1:04}.jsonl"
    name.with_suffix(".part").write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in found), encoding="utf-8")
    name.with_suffix(".part").rename(name)
    print(f"{name}: {len(found)} prompts")


if __name__ == "__main__":
    main()
