"""Write the prompts for measuring: beginnings of held-out documentation, and held-out user messages.

    python models/train/prompts.py --docs TEXT/heldout --docs-train TEXT/train --chat CHAT --out models/prompts

docs.txt: the first 5 to 13 words of paragraphs of held-out files.
smollm2.txt: messages from the templates of CHAT/*.jsonl, none of which occurs there; of a story, its
hero does this thing in no prompt of CHAT; of an explanation, the template with this subject is new,
and every second subject is too.
"""
import argparse
import random
import re
from pathlib import Path

import data

ANIMALS = "duck hedgehog bear penguin wolf mouse frog squirrel rabbit lion ant elephant crow turtle dog bee fox owl cat deer".split()
PEOPLE = ("doctor girl pilot gardener teacher baker musician sailor fisherman queen painter wizard king inventor shepherd "
          "farmer librarian detective tailor boy").split()
ACTS = ("learns to swim,tells a lie and regrets it,discovers a secret,plants a tree,builds a house,wants to fly,"
        "is afraid of the dark,gets lost,finds a magic stone,loses something precious,learns to share,meets a giant,"
        "learns to be patient,helps a stranger,finds a hidden door,wins a race,forgives an old enemy,makes a new friend,"
        "saves the village,goes on a long journey").split(",")
PLACES = ("", " in a big city", " in a small village", " in the mountains", " on a farm", " by the sea", " in the desert",
          " in winter", " on an island", " in a library")
STORIES = [("Write a short story about a {} who {}{}.", ANIMALS), ("Tell me a story about a {} who {}{}.", PEOPLE),
           ("Tell a bedtime story about a {} who {}.", ANIMALS), ("Write the beginning of a tale about a {} who {}.", PEOPLE)]
SUBJECTS = ("the moon,rivers,bread,bridges,gravity,the heart,glass,sleep,magnets,trains,music,volcanoes,money,bees,trees,"
            "the internet,paper,light,maps,friendship").split(",")
NEW_SUBJECTS = "salt,sand,snow,honey,bicycles,clocks,mirrors,whales,spiders,kites,lighthouses,cheese,soap,candles,deserts at night".split(",")
EXPLANATIONS = ("Give me five facts about {}.", "What are the benefits and the problems of {}?", "List three tips about {}.",
                "Write a short paragraph about {}.", "Explain {} to a child.", "How does {} work?",
                "Tell me about the history of {}.", "Why is {} important?", "Write a short poem about {}.",
                "What is {}? Explain in simple words.")


def story(rng, more={}):
    """(its hero and what that does, the prompt). more: heroes of a template's kind, "animals" or "people", beside those here."""
    template, heroes = rng.choice(STORIES)
    hero, act = rng.choice(heroes + more.get("animals" if heroes is ANIMALS else "people", [])), rng.choice(ACTS)
    return f" {hero} who {act}", template.format(hero, act, rng.choice(PLACES))


def docs(heldout, train, count, rng):
    known = "\n".join(t for _, t, _ in data.read(train))
    found = []
    for _, text, _ in data.read(heldout):
        for paragraph in re.findall(r"(?:^|\n\n) {0,6}([A-Z][^\n]+)\n", text):
            words = paragraph.split(" ")
            if len(words) < 8 or re.search(r"[|=+<>#]|--|  |\.\. ", paragraph) or paragraph in known:
                continue
            # The last words of the line stay out, so that there is something on the same line to go on with.
            found.append(" ".join(words[:rng.randrange(5, len(words) - 1)]))
    found = sorted(p for p in set(found) if p.count("`") % 2 == 0 and p.count("*") % 2 == 0 and len(p.split()) >= 5)
    return rng.sample(found, count)


def chat(folder, count, rng):
    known = {p for p, _, _ in data.read(folder)}
    everything = "\n".join(known)
    found = set()
    while len(found) < count * 5 // 8:
        deed, prompt = story(rng)
        if deed not in everything:
            found.add(prompt)
    while len(found) < count:
        subjects = (SUBJECTS, NEW_SUBJECTS)[len(found) % 2]
        prompt = rng.choice(EXPLANATIONS).format(rng.choice(subjects))
        if prompt not in known:
            found.add(prompt)
    assert not found & known
    found = sorted(found)
    rng.shuffle(found)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--docs", type=Path, required=True)
    p.add_argument("--docs-train", type=Path, required=True)
    p.add_argument("--chat", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--count", type=int, default=64)
    args = p.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, prompts in (("docs", docs(args.docs, args.docs_train, args.count, random.Random(1))),
                          ("smollm2", chat(args.chat, args.count, random.Random(1)))):
        assert len(prompts) == len(set(prompts)) == args.count
        (args.out / f"{name}.txt").write_text("\n".join(prompts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
