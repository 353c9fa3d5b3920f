#!/usr/bin/env python3
"""Reports what the configurations of the shipped models claim beyond their training.

usage: check_models.py MODELS_FOLDER        exit status 1 if anything is reported

README.md there has a table of the models, whose column "longest text" is the most tokens of a text that the model was
trained on. Each model has a card, its README.md, with the parts of PARTS and the hash of its weights. A drafter (it has
an equivalences.json or a kept.json) is windowed to its trained_context, which must not be more: beyond what it has seen
it proposes what the target rejects.
"""
import hashlib, json, pathlib, re, sys

PARTS = ["Purpose", "Data", "Licence", "Figures", "Training", "Limits"]

root = pathlib.Path(sys.argv[1])
found, longest = [], {}
header = []
for line in (root / "README.md").read_text(encoding="utf-8").splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if "longest text" in cells:
        header = cells
    elif header and not line.startswith("|"):
        break
    elif header and "`" in cells[0]:
        longest[cells[0].strip("[").split("`")[1]] = int(cells[header.index("longest text")].replace(",", ""))
if not longest:
    found.append('README.md: expected a table of the models with a column "longest text"')
for config in sorted(root.glob("*/config.json")):
    name = config.parent.name
    claimed = json.loads(config.read_text(encoding="utf-8")).get("trained_context")
    drafts = any((config.parent / file).exists() for file in ("equivalences.json", "kept.json"))
    if name not in longest:
        found.append(f"README.md: expected {name} in the table of the models")
    elif drafts and not 2 <= (claimed or 0) <= longest[name]:
        found.append(f"{name}/config.json: trained_context: expected at most {longest[name]}, the longest text that it was "
                     f"trained on, found {claimed}")
    card = config.parent / "README.md"
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    if re.findall(r"^## (.+)$", text, re.M) != PARTS:
        found.append(f"{name}/README.md: expected the parts {', '.join(PARTS)}")
    digest = hashlib.sha256((config.parent / "model.safetensors").read_bytes()).hexdigest()
    if f"`{digest}`" not in text:
        found.append(f"{name}/README.md: expected the SHA-256 of model.safetensors, {digest}")
print("\n".join(found) or f"{len(longest)} models, no complaints")
sys.exit(1 if found else 0)
