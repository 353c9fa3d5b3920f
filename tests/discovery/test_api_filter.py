#!/usr/bin/env python3
"""What scripts/api_filter.py makes of comments, so that Doxygen reads them as they are meant."""
import pathlib, sys, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from api_filter import filtered


class ApiFilter(unittest.TestCase):
    def test_a_comment_is_plain_text(self):
        self.assertEqual(filtered("/// p <= q * r, see a@b and #c & 5 %."), "/// p \\<= q \\* r, see a\\@b and \\#c \\& 5 \\%.")
        self.assertEqual(filtered("    int a = 1; ///< a < b"), "    int a = 1; ///< a \\< b")

    def test_code_stays(self):
        for line in ("///     a<b> c = d & e; // #f", "int a = b<c>(d); // <e>", "/// `a<b>` is one"):
            self.assertEqual(filtered(line), line)
        self.assertEqual(filtered("/// a ` < b"), "/// a ` \\< b")

    def test_fixed_words_begin_a_line(self):
        self.assertEqual(filtered("/// It draws. Paper: A 2023, B. Errors: none."), "/// It draws. <br/>**Paper:** A 2023, B. <br/>**Errors:** none.")
        self.assertEqual(filtered("/// Thread safety: none"), "/// <br/>**Thread safety:** none")
        self.assertEqual(filtered("/// std::Errors::x, no Errors: here"), "/// std::Errors::x, no Errors: here")

    def test_a_requirement_before_a_body_is_left_out(self):
        self.assertEqual(filtered("void f()\n    requires trees\n{\n}"), "void f()\n{\n}")
        self.assertEqual(filtered("    requires trees\nvoid f();"), "    requires trees\nvoid f();")


if __name__ == "__main__":
    unittest.main()
