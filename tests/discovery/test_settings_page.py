#!/usr/bin/env python3
"""What scripts/write_settings_page.py reads of a header, and what it refuses."""
import pathlib, sys, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import write_settings_page
from write_settings_page import Header, Unreadable

STRUCT = """/// What it
/// is.
struct settings {
    /// Tokens of a|b.
    std::size_t length = 8;
    std::vector<int> ids{}; ///< Ids,
                            ///< in order.

    // no comment of a field
    bool on = true; ///< Whether it is on.

    /// Half of it.
    [[nodiscard]] double half() const {
        return 0;
    }
    void set(std::size_t n, bool yes = true,
             bool no = {});
};

inline void validate(const settings& s) {
    if (s.length > most_draft_tokens)
        fail("settings", "length", "expected at most " + std::to_string(most_draft_tokens) + " tokens");
}
"""
ENUMERATION = """/// What it is.
enum class kind : std::uint8_t {
    one,     ///< the first
    two = 7, ///< the second,
             ///< which is seven
};
"""


class SettingsPage(unittest.TestCase):
    def test_a_struct_is_read_with_its_ranges(self):
        header = Header("a.hpp", STRUCT)
        about, fields, functions = header.struct("settings")
        self.assertEqual(about, ["What it", "is."])
        self.assertEqual([field[:4] for field in fields], [("length", "std::size_t", "8", "Tokens of a|b."),
                                                           ("ids", "std::vector<int>", "{}", "Ids, in order."),
                                                           ("on", "bool", "true", "Whether it is on.")])
        self.assertEqual([function[:4] for function in functions], [("half()", "double", "", "Half of it.")])
        self.assertEqual(header.ranges("settings", {"length", "ids", "on"}), {"length": "at most 1024 tokens"})
        _, text = write_settings_page.struct_part(header, "settings", False, {"settings"})
        self.assertIn("| `length` | `std::size_t` | `8` | at most 1024 tokens | Tokens of a\\|b. |\n", text)
        self.assertIn("| `ids` | `std::vector<int>` | empty | | Ids, in order. |\n", text)

    def test_an_enumeration_is_read(self):
        self.assertEqual(Header("a.hpp", ENUMERATION).enumeration("kind"),
                         (["What it is."], [("one", "the first"), ("two", "the second, which is seven")]))

    def test_what_cannot_be_read_is_named_with_file_and_line(self):
        for old, new, said in (
                ("    /// Tokens of a|b.\n", "", "4: expected a comment that says what length is"),
                (" ///< Whether it is on.", "", "10: expected a comment that says what on is"),
                (" ///< Whether it is on.", " // Whether it is on.", "10: expected ///< for a comment"),
                ("length = 8;", "length = 8, width = 3;", "5: expected a field 'type name = default;'"),
                ("length = 8;", "length, width;", "5: expected a field 'type name = default;'"),
                ("length = 8;", "length[2];", "5: expected a field 'type name = default;'"),
                ("    /// Half of it.\n", "", "12: expected a comment that says what half() is"),
                ("a|b.\n", "a|b.\n\n", "5: expected a declaration after its comment"),
                ("struct settings {", "struct settings : base {", "1: expected one definition of settings"),
                ("/// What it\n/// is.\n", "#include <x>\n", "2: expected a comment before settings"),
                ("};\n\n", "\n", "3: expected the end of settings"),
                ('"length", "expected', '"longest", "expected', "22: expected a field of settings, found 'longest'"),
        ):
            with self.subTest(new=new, said=said), self.assertRaises(Unreadable) as caught:
                self.assertIn(old, STRUCT)
                header = Header("a.hpp", STRUCT.replace(old, new, 1))
                write_settings_page.struct_part(header, "settings", False, set())
            self.assertIn(f"include/specdec/a.hpp:{said}", str(caught.exception))

    def test_an_enumeration_that_cannot_be_read_is_named_with_file_and_line(self):
        for old, new, said in ((" ///< the first", "", "3: expected a comment that says what one is"),
                               ("one,     ///< the first", "one, zero, ///< the first", "3: expected a line for each value"),
                               ("{\n    one", "{ one", "1: expected one definition of kind")):
            with self.subTest(new=new), self.assertRaises(Unreadable) as caught:
                self.assertIn(old, ENUMERATION)
                Header("a.hpp", ENUMERATION.replace(old, new)).enumeration("kind")
            self.assertIn(f"include/specdec/a.hpp:{said}", str(caught.exception))

    def test_rules_are_those_of_their_table(self):
        header = Header("a.hpp", "/// Rules.\nenum class rule {\n    one,\n    two,\n    number_of_rules\n};\n"
                                 'named_rule{rule::one, "one", "the "\n"first", x}, named_rule{rule::three, "three", "no", x}')
        with self.assertRaisesRegex(Unreadable, "a.hpp:3: expected a row in `rules` for each of one, two"):
            write_settings_page.rule_part(header, "rule")

    def test_comments_become_markdown(self):
        self.assertEqual(write_settings_page.cell("[n] of a*b, a_b() and `c|d` <x>: docs/use/a-b.md, docs/rules/c.md, d/e.hpp"),
                         "\\[n\\] of a\\*b, `a_b()` and `c\\|d` &lt;x>: [a-b](a-b.md), [rules/c](../rules/c.md), `d/e.hpp`")


if __name__ == "__main__":
    unittest.main()
