// SPDX-License-Identifier: MIT
// Real tokenizers against their byte tables and against the ids that other encoders gave
// (tests/data/vocabularies, and ../shared/vocabularies where the checkout has it).
#include <specdec_engine/load_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <zlib.h>

#include "toys.hpp"

using namespace specdec::engine;
using specdec::token_kind;
using toys::ids;
namespace fs = std::filesystem;

namespace {

const std::string shared = std::string(SPECDEC_SHARED_DIR).empty()
                               ? std::string()
                               : std::string(SPECDEC_SHARED_DIR) + "/vocabularies/";

std::string unzipped(const std::string& path) {
    std::string out;
    gzFile file = gzopen(path.c_str(), "rb");
    REQUIRE(file != nullptr);
    char block[1 << 16];
    for (int n; (n = gzread(file, block, sizeof block)) > 0;)
        out.append(block, static_cast<std::size_t>(n));
    gzclose(file);
    return out;
}

std::string from_hex(const std::string& hex) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        out += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
    return out;
}

ids numbers(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::int32_t>(in), {}};
}

/// Lines of a table without its header, split at tabs.
std::vector<std::vector<std::string>> rows(const std::string& text) {
    std::vector<std::vector<std::string>> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#"))
            continue;
        out.emplace_back();
        for (std::size_t at = 0; at != std::string::npos;) {
            const std::size_t tab = line.find('\t', at);
            out.back().push_back(line.substr(at, tab - at));
            at = tab == std::string::npos ? tab : tab + 1;
        }
    }
    return out;
}

token_kind kind_of(const std::string& name) {
    if (name == "byte")
        return token_kind::byte;
    if (name == "user")
        return token_kind::user;
    if (name == "control")
        return token_kind::control;
    return name == "unused" ? token_kind::unused : token_kind::normal;
}

const std::string own = SPECDEC_SOURCE_DIR "/tests/data/vocabularies/";

void check_table(const tokenizer& t, const std::string& name, const std::string& folder = shared) {
    const auto table = rows(unzipped(folder + name + ".vocab.tsv.gz"));
    REQUIRE(t.vocabulary_size() == table.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < table.size(); ++i)
        wrong += t.table().kind(i) != kind_of(table[i][1]) ||
                 t.table().entry(i) != from_hex(table[i][3]);
    CHECK(wrong == 0);
}

struct counts {
    std::size_t strings = 0, equal = 0;
};

/// Over the strings without a control token's name, whose parsing the encoders do not agree on.
counts compare(const tokenizer& t, const std::string& name) {
    counts out;
    for (const auto& row : rows(unzipped(shared + "encodings/" + name + ".encodings.tsv.gz"))) {
        if (row[0] == "literal special")
            continue;
        ++out.strings;
        out.equal += toys::encode(t, from_hex(row[1])) == numbers(row[2]);
    }
    return out;
}

/// llama.cpp's 46 test strings.
void check_llama_cpp(const tokenizer& t, const std::string& name) {
    std::ifstream in(shared + "encodings/llama.cpp/strings.inp");
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    std::ifstream lines(shared + "encodings/llama.cpp/" + name + ".out");
    const std::string separator = "\n__ggml_vocab_test__\n";
    std::size_t compared = 0, equal = 0;
    std::string line;
    for (std::size_t at = 0; at != std::string::npos && std::getline(lines, line); ++compared) {
        const std::size_t end = all.find(separator, at);
        equal += toys::encode(t, all.substr(at, end - at)) == numbers(line);
        at = end == std::string::npos ? end : end + separator.size();
    }
    CHECK(compared == 46);
    CHECK(equal == compared);
}

} // namespace

TEST_CASE("real SentencePiece models: tables and encodings") {
    if (shared.empty())
        return;
    for (const char* name : {"llama2", "mistral_v1", "mistral_v3"}) {
        INFO(name);
        const tokenizer t = load_tokenizer(shared + "original/" + name + ".tokenizer.model");
        check_table(t, name);
        if (std::string(name) == "mistral_v3")
            continue;
        const counts c = compare(t, name);
        CHECK(c.strings == 2068);
        CHECK(c.equal == c.strings);
    }
}

TEST_CASE("a real llama2.c tokenizer: its table") {
    check_table(load_tokenizer(own + "stories512.llama2c-tokenizer.bin"), "stories512", own);
}

TEST_CASE("real llama2.c tokenizers: tables and encodings") {
    if (shared.empty())
        return;
    const tokenizer t = load_tokenizer(shared + "original/llama2.llama2c-tokenizer.bin");
    check_table(t, "llama2");
    const counts c = compare(t, "llama2");
    CHECK(c.strings == 2068);
    CHECK(c.equal == c.strings);
}

TEST_CASE("real tokenizer.json files: tables and encodings", "[computes]") {
    if (shared.empty())
        return;
    // The encoders are JavaScript, where \s has U+FEFF and not U+0085. Hugging Face's own has it
    // the other way round; its ids differ in about 20 strings with one of the two next to white
    // space.
    struct model {
        const char* file;
        std::vector<const char*> encodings;
        std::size_t huggingface; ///< strings with the same ids under Hugging Face's rule
        const char* llama_cpp;
    };
    for (const model& m : {model{"gpt2", {"gpt2"}, 2048, "gpt2"},
                           model{"llama3_1", {"llama3", "llama3_1"}, 2049, "llama3"},
                           model{"qwen2_5", {"qwen2", "qwen2_5"}, 2049, "qwen2"}}) {
        INFO(m.file);
        const mapped_file file(shared + "original/" + m.file + ".tokenizer.json");
        const tokenizer javascript =
            read_tokenizer_json(file.text(), file.source(), white_space_rule::ecmascript);
        const tokenizer huggingface = read_tokenizer_json(file.text(), file.source());
        check_table(huggingface, m.file);
        check_llama_cpp(huggingface, m.llama_cpp);
        for (const char* name : m.encodings) {
            const counts c = compare(javascript, name);
            CHECK(c.strings == 2068);
            CHECK(c.equal == c.strings);
            CHECK(compare(huggingface, name).equal == m.huggingface);
        }
    }
}
