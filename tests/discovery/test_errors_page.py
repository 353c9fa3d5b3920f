#!/usr/bin/env python3
"""What scripts/write_errors_page.py reads of headers, and what it refuses."""
import pathlib, sys, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import write_errors_page
from write_errors_page import Library, Unreadable

REQUIRE = """#include <specdec/core/error.hpp>
namespace specdec {
inline constexpr const char* header_field = "magic";
/// fail("no", "comment", "is read");
template <class Id>
inline void require_rows(const Rows<Id>& rows, std::size_t n, const char* source) {
    if (rows.size() != n)
        fail(source, std::string(side_of<Id>()) + "'s rows", "expected " + std::to_string(n) + " rows, found " +
                                                              std::to_string(rows.size()));
}
}
"""
MODEL = """#include <specdec/core/require.hpp>
class model {
    void take(std::span<const int> ids, std::size_t most) {
        const auto require = [&](bool holds, const char* field, const std::string& expected) {
            if (!holds)
                fail("model", field, expected);
        };
        require(a < b && b > c, "ids", "expected at most " + std::to_string(most) + ", "
                                       "in order");
        require_rows<draft_id>(rows(), 2, "model");
        for (const char* field : {"one", "two", "three"})
            fail(path_, field, full() ? "expected room" : "expected \\"a|b\\" <" + name + ">");
    }
    void read() {
        const std::string field = "tensor " + t.name;
        throw error(file.source(), field, std::string("expected shape ") + shape_text(t.shape));
        throw error(where_ + ": expected matches: none");
        throw error(path, header_field, "cannot be read: " + cause.what());
    }
};
"""


def page(model=MODEL, require=REQUIRE):
    return write_errors_page.page_of(Library([("specdec/core/require.hpp", require), ("specdec/draft/model.hpp", model)]))


class ErrorsPage(unittest.TestCase):
    def test_errors_are_read_where_their_texts_are(self):
        head = "| source | field | message |\n| --- | --- | --- |\n"
        self.assertEqual(page().removeprefix(write_errors_page.INTRODUCTION), f"""
## specdec/draft

{head}| &lt;path> | magic | cannot be read: &lt;reason> |
| &lt;path> | one | expected "a\\|b" &lt;&lt;name>> |
| &lt;path> | one | expected room |
| &lt;path> | three | expected "a\\|b" &lt;&lt;name>> |
| &lt;path> | three | expected room |
| &lt;path> | two | expected "a\\|b" &lt;&lt;name>> |
| &lt;path> | two | expected room |
| &lt;source> | tensor &lt;name> | expected shape &lt;shape> |
| &lt;where> | | expected matches: none |
| model | &lt;side>'s rows | expected &lt;n> rows, found &lt;n> |
| model | ids | expected at most &lt;n>, in order |
""")

    def test_a_function_without_calls_is_read_itself(self):
        text = page(MODEL.replace('        require_rows<draft_id>(rows(), 2, "model");\n', ""))
        self.assertIn("## specdec/core\n", text)
        self.assertIn("| &lt;source> | &lt;side>'s rows | expected &lt;n> rows, found &lt;n> |\n", text)

    def test_a_function_that_is_not_included_is_not_meant(self):
        text = page(MODEL.replace("specdec/core/require.hpp", "specdec/core/other.hpp"))
        self.assertIn("| &lt;source> | &lt;side>'s rows | expected &lt;n> rows, found &lt;n> |\n", text)

    def test_a_field_alone_is_not_read_of_each_call_that_names_a_file(self):
        text = page("void check(const std::string& path, const char* field) {\n    fail(path, field, \"expected a number\");\n}\n"
                    'void all() {\n    check(path, "one");\n    check("limits", "two");\n}\n')
        self.assertIn("| &lt;path> | &lt;field> | expected a number |\n| limits | two | expected a number |\n", text)
        self.assertNotIn("| one |", text)

    def test_what_cannot_be_read_is_named_with_file_and_line(self):
        for old, new, said in (
                ('fail("model", field, expected);', 'fail("model", expected);', "6: expected fail(source, field, expected), found 2 arguments"),
                ('throw error(file.source(), field,', "throw error(field,", "16: expected error(source, field, expected) or error(text), found 2"),
                ('throw error(where_ + ": expected matches: none")', "throw error(where_)", "17: expected a source before ': '"),
                ("throw error(where_", "return error(where_", "17: expected `throw error(...)`"),
                ("throw error(path,", "throw error{path,", "18: expected `throw error(...)`"),
                ("cause.what());\n    }\n};", "cause.what();", "18: expected the end of this call"),
                ('require(a < b', 'other(a < b', '8: expected "expected at most " to be the text of an error'),
                ('"ids", "expected', '"expected', '8: expected "expected at most " to be the text of an error'),
        ):
            with self.subTest(new=new, said=said), self.assertRaises(Unreadable) as caught:
                self.assertIn(old, MODEL)
                page(MODEL.replace(old, new, 1))
            self.assertIn(f"include/specdec/draft/model.hpp:{said}", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
