// SPDX-License-Identifier: MIT
#include <specdec_engine/drafter/token_list_file.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"
#include "support/temporary_folder.hpp"

namespace list_file_tests {

using namespace specdec;
using namespace specdec::engine;
using Catch::Contains;

token_list<draft_id> parse(const std::string& text, std::size_t vocabulary = 8) {
    return parse_token_list<draft_id>(std::as_bytes(std::span(text)), vocabulary, "list");
}
token_list<draft_id> list_of(const std::vector<int>& numbers) {
    return {testing::ids_of(numbers), 8};
}

struct column {
    std::string name, dtype, bytes;
    std::size_t length;
};
template <class T>
column numbers(const std::string& name, const std::string& dtype, std::vector<T> values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return {name, dtype, bytes, values.size()};
}
std::string safetensors(const std::vector<column>& columns) {
    nlohmann::json header = nlohmann::json::object();
    std::string data;
    for (const column& c : columns) {
        header[c.name] = {{"dtype", c.dtype},
                          {"shape", {c.length}},
                          {"data_offsets", {data.size(), data.size() + c.bytes.size()}}};
        data += c.bytes;
    }
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::string out(8, '\0');
    std::memcpy(out.data(), &length, 8);
    return out + text + data;
}
using wide = std::vector<std::int64_t>;
using narrow = std::vector<std::int32_t>;
using bytes = std::vector<std::uint8_t>;

TEST_CASE("token lists of absolute ids") {
    const auto list = list_of({0, 3, 7});
    CHECK(parse("[0, 3, 7]") == list);
    CHECK(parse(" {\"ids\": [0, 3, 7], \"comment\": \"x\"}") == list);
    CHECK(parse(safetensors({numbers("ids", "I64", wide{0, 3, 7})})) == list);
    CHECK(parse(safetensors({numbers("ids", "I32", narrow{0, 3, 7})})) == list);
}

TEST_CASE("a list in tensors is one whatever the length of its header looks like") {
    std::string looks;
    for (std::size_t padding = 0; padding < 256; ++padding) {
        const std::string file = safetensors({column{"x" + std::string(padding, 'x'), "U8", "", 0},
                                              numbers("ids", "I64", wide{0, 3, 7})});
        looks += file[0];
        CHECK(parse(file) == list_of({0, 3, 7}));
    }
    CHECK(looks.find('[') != looks.npos);
    CHECK(looks.find('{') != looks.npos);
}

TEST_CASE("token lists of EAGLE-3's offsets: row i is that of id i + d2t[i]") {
    const auto list = list_of({0, 3, 7});
    const bytes kept{1, 0, 0, 1, 0, 0, 0, 1};
    CHECK(parse("{\"d2t\": [0, 2, 5]}") == list);
    CHECK(parse("{\"d2t\": [0, 2, 5], \"t2d\": [true, false, false, true, false, false, false, "
                "true]}") == list);
    CHECK(parse(safetensors({numbers("d2t", "I64", wide{0, 2, 5}), numbers("t2d", "BOOL", kept),
                             column{"fc.weight", "BF16", std::string(4, 'x'), 2}})) == list);
}

TEST_CASE("a token list file that is none is refused: file, field and what was expected") {
    const auto refused = [](const std::string& text, const std::string& field) {
        CHECK_THROWS_WITH(parse(text), Contains("list: " + field));
    };
    refused("", "header length");
    refused("{", "file");
    refused("{}", "file: expected either");
    refused("{\"ids\": [1], \"d2t\": [1]}", "file");
    refused("{\"ids\": 3}", "ids");
    refused("[1.5]", "ids[0]");
    refused("[0, 99999999999]", "ids[1]");
    refused("[0, -1]", "id -1");
    refused("[0, 8]", "id 8");
    refused("[3, 3]", "id 3");
    refused("[3, 1]", "id 1");
    refused("[]", "ids");
    refused("{\"d2t\": [0, 7]}", "id 8");
    refused("{\"d2t\": [2, 0]}", "id 1");
    refused("{\"d2t\": [1], \"t2d\": 5}", "t2d");
    refused("{\"d2t\": [1], \"t2d\": [1]}", "t2d[0]");
    refused("{\"d2t\": [1], \"t2d\": [false]}", "t2d: expected 8 values");
    refused("{\"d2t\": [1], \"t2d\": [false, false, true, false, false, false, false, false]}",
            "t2d[1]: expected true");
    refused(safetensors({}), "file");
    refused(safetensors({numbers("ids", "I64", wide{1}), numbers("d2t", "I64", wide{1})}), "file");
    refused(safetensors({{"d2t", "F32", std::string(8, '\0'), 2}}), "tensor d2t");
    refused(safetensors({numbers("d2t", "I64", wide{0x7FFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF})}),
            "d2t[1]");
    refused(safetensors({numbers("d2t", "I64", wide{1}), numbers("t2d", "I64", wide{1})}),
            "tensor t2d");
    refused(safetensors({numbers("d2t", "I64", wide{1}),
                         numbers("t2d", "BOOL", bytes{0, 1, 0, 1, 0, 0, 0, 0})}),
            "t2d[3]: expected false");
}

TEST_CASE("token lists come back from the files that are written, of either kind") {
    const testing::temporary_folder folder;
    const auto list = list_of({1, 2, 6});
    for (const char* name : {"list.json", "list.safetensors"}) {
        const auto path = folder.path() / name;
        write_token_list(path, list);
        CHECK(read_token_list<draft_id>(path, 8) == list);
        CHECK_THROWS_WITH(read_token_list<draft_id>(path, 6), Contains(name));
    }
    CHECK_THROWS_WITH(read_token_list<draft_id>(folder.path() / "none", 8), Contains("none: file"));
    CHECK_THROWS_WITH(write_token_list(folder.path() / "no" / "list.json", list),
                      Contains("list.json"));
}

} // namespace list_file_tests
