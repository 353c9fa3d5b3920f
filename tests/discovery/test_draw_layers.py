#!/usr/bin/env python3
"""What scripts/draw_layers.py reads of the list of layers, and what it refuses."""
import pathlib, sys, unittest, xml.dom.minidom

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from draw_layers import PURPOSES, Unreadable, folders, picture


def listed(*layers):
    return 'LAYERS = """' + " ".join(layers) + '""".split()\n'


class DrawLayers(unittest.TestCase):
    def test_the_highest_folder_is_drawn_first_with_its_layers(self):
        found = folders((ROOT / "tests/architecture/check_includes.py").read_text())
        self.assertEqual(list(found), list(PURPOSES))
        text = picture(found)
        xml.dom.minidom.parseString(text)
        self.assertLess(text.index(">testing<"), text.index(">core<"))
        self.assertIn(">basic, model, tree<", text)

    def test_other_folders_than_those_with_a_purpose_are_refused(self):
        with self.assertRaisesRegex(Unreadable, "which differ by: core$"):
            folders(listed(*(name for name in PURPOSES if name != "core")))
        with self.assertRaisesRegex(Unreadable, "which differ by: other$"):
            folders(listed(*PURPOSES, "other"))
        with self.assertRaisesRegex(Unreadable, "expected the layers of core one after the other"):
            folders(listed("core", "verify", "core/tree"))


if __name__ == "__main__":
    unittest.main()
