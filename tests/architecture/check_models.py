#!/usr/bin/env python3
"""Reports what the configurations of the shipped models claim beyond their training.

usage: check_models.py MODELS_FOLDER        exit status 1 if anything is reported

README.md there has a table of the models, whose column "longest text" is the most tokens of a text that the model was
trained on. A drafter with a tokenizer of its own (it has an equivalences.json) is windowed to its
max_position_embeddings, so these must not be more: beyond what it has seen it proposes what the target rejects.
"""
import json, pathlib, sys

root = pathlib.Path(sys.argv[1])
found, longest = [], {}
header = []
for line in (root / "README.md").read_text(encoding="utf-8").splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if "longest text" in cells:
        header = cells
    elif header and not line.startswith("|"):
        break
    elif header and cells[0].startswith("`"):
        longest[cells[0].strip("`")] = int(cells[header.index("longest text")].replace(",", ""))
if not longest:
    found.append('README.md: expected a table of the models with a column "longest text"')
for config in sorted(root.glob("*/config.json")):
    name = config.parent.name
    claimed = json.loads(config.read_text(encoding="utf-8"))["max_position_embeddings"]
    if name not in longest:
        found.append(f"README.md: expected {name} in the table of the models")
    elif (config.parent / "equivalences.json").exists() and claimed > longest[name]:
        found.append(f"{name}/config.json: max_position_embeddings: expected at most {longest[name]}, the longest text "
                     f"that it was trained on, got {claimed}")
print("\n".join(found) or f"{len(longest)} models, no complaints")
sys.exit(1 if found else 0)
