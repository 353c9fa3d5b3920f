"""Take the reST sources out of Debian's python3.11-doc and split them into train and held-out text.

    apt-get download python3.11-doc && dpkg -x python3.11-doc_*.deb DOC
    python models/train/corpus.py --doc DOC --out TEXT

DOC may also be / where the package is installed.  Writes TEXT/train/*.txt, TEXT/heldout/*.txt
(about 3 % of the bytes, whole files, chosen by a fixed seed) and TEXT/LICENSE.
"""
import argparse
import random
import shutil
from pathlib import Path

SOURCES = "usr/share/doc/python3.11/html/_sources"
LICENCE = "usr/share/doc/python3.11-doc/copyright"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--doc", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--heldout", type=float, default=0.03, help="part of the bytes to hold out")
    args = p.parse_args()

    sources = args.doc / SOURCES
    texts = {}
    for path in sorted(sources.rglob("*.rst.txt")):
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n").strip() + "\n"
        if len(text) >= 500:
            texts[str(path.relative_to(sources)).removesuffix(".rst.txt").replace("/", "-")] = text
    if not texts:
        raise SystemExit(f"no *.rst.txt under {sources}")

    # Files of middling size only, so that the held-out part is made of many files.
    names = [n for n in texts if 4000 <= len(texts[n]) <= 40000]
    random.Random(1).shuffle(names)
    heldout, size, want = set(), 0, args.heldout * sum(map(len, texts.values()))
    for name in names:
        if size >= want:
            break
        heldout.add(name)
        size += len(texts[name])

    for part in ("train", "heldout"):
        folder = args.out / part
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        chosen = [n for n in texts if (n in heldout) == (part == "heldout")]
        for name in chosen:
            (folder / f"{name}.txt").write_text(texts[name], encoding="utf-8")
        print(f"{part}: {len(chosen)} files, {sum(len(texts[n].encode()) for n in chosen)} bytes")
    shutil.copyfile(args.doc / LICENCE, args.out / "LICENSE")


if __name__ == "__main__":
    main()
