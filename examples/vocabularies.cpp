// SPDX-License-Identifier: MIT
// What two tokenizers share: the intersection by bytes that the library uses, and what papers
// count: joins on displayed strings, spellings of the target's tokens in the drafter's, and the
// draft tokens after which the first target token is determined.
//
//     vocabularies                                   the pair in this repository
//     vocabularies DRAFTER TARGET --text FILE        with the share of a text's tokens, and whether
//                                                    its lines come back as they were
//     vocabularies DRAFTER TARGET --spell hello      with the spellings of these bytes
//     vocabularies <(zcat a.vocab.tsv.gz) b.vocab.tsv --json
//
// DRAFTER and TARGET: a Hugging Face folder, tokenizer.json, SentencePiece .model, .gguf, tokenizer
// .bin of llama2.c, or a plain table (support/text/vocab_tsv.hpp).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "papers/lookahead_bound.hpp"
#include "papers/spellings.hpp"
#include "papers/string_join.hpp"
#include "support/pair/equivalences_file.hpp"
#include "support/pair/model_flags.hpp"
#include "support/program/files.hpp"
#include "support/program/program.hpp"
#include "support/text/vocab_tsv.hpp"
#include <specdec/vocab/table/intersection.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/load_tokenizer.hpp>

namespace {

namespace fs = std::filesystem;
using namespace specdec;
using nlohmann::ordered_json;

const fs::path models = examples::models_folder();

/// A vocabulary, and its tokenizer unless it came as a plain table.
struct side {
    vocabulary table;
    std::optional<engine::tokenizer> tokenizer;
};

bool is_table(const fs::path& path) {
    if (const std::string why = examples::why_missing(path); !why.empty())
        throw error(path.string(), "path", "expected an existing file or folder: " + why);
    if (engine::is_folder(path))
        return false;
    if (!fs::is_regular_file(path))
        return true; // a pipe
    std::string start(examples::vocab_tsv::first_line.size(), '\0');
    std::ifstream(path, std::ios::binary).read(start.data(), std::ssize(start));
    return start == examples::vocab_tsv::first_line;
}

side load(const fs::path& path) {
    if (is_table(path))
        return {examples::parse_vocab_tsv(examples::read_input(path.string()), path.string()).table,
                {}};
    if (path.extension() == ".gz")
        throw error(path.string(), "file", "expected it unpacked, for example <(zcat FILE)");
    engine::tokenizer tokenizer = engine::load_tokenizer(path);
    return {tokenizer.table(), std::move(tokenizer)};
}

double ratio(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Lines of which decode(encode(s)) is not s, s the line's first 100 characters (Timor et al.,
/// App. F).
ordered_json injectivity(const engine::tokenizer& tokenizer, std::string_view text) {
    constexpr std::size_t most = 100;
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
    std::size_t lines = 0, changed = 0;
    std::string example;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        std::size_t bytes = 0, characters = 0;
        for (; bytes < line.size(); ++bytes)
            if (begins(line[bytes]) && characters++ == most)
                break;
        if (bytes == 0)
            continue;
        std::vector<std::int32_t> ids;
        tokenizer.encode(line.substr(0, bytes), encode_mode::continuation, ids);
        std::string back;
        for (const std::int32_t id : ids)
            back += tokenizer.bytes(id);
        ++lines;
        if (back == line.substr(0, bytes))
            continue;
        if (changed++ == 0)
            example = line.substr(0, bytes);
    }
    return {{"lines", lines}, {"changed", changed}, {"example", example}};
}

/// Share of a text's tokens that have a partner in the other vocabulary: of all, and of the
/// different ones (Timor et al., Table 6).
template <class HasPartner>
ordered_json share_of_text(const side& one, const std::string& text,
                           const HasPartner& has_partner) {
    std::vector<std::int32_t> ids;
    one.tokenizer->encode(text, encode_mode::start, ids);
    const auto counted = [&] {
        const auto shared = static_cast<std::size_t>(std::ranges::count_if(ids, has_partner));
        return ordered_json{
            {"tokens", ids.size()}, {"shared", shared}, {"share", ratio(shared, ids.size())}};
    };
    ordered_json all = counted();
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    all["types"] = counted();
    all["injective"] = injectivity(*one.tokenizer, text);
    return all;
}

ordered_json spellings_of(const papers::spelling_counter& counter, std::string_view text) {
    const papers::spellings found = counter.count(text);
    return {{"ways", found.ways}, {"passes", found.contexts}};
}

/// What Timor et al. give in Table 8, of counts in ascending order.
ordered_json summary(std::vector<std::uint64_t> counts) {
    std::ranges::sort(counts);
    const auto at = [&](std::size_t quarters) {
        return counts.empty() ? 0
                              : counts[std::min(counts.size() * quarters / 4, counts.size() - 1)];
    };
    double sum = 0, squares = 0;
    for (const std::uint64_t n : counts)
        sum += static_cast<double>(n);
    const double size = static_cast<double>(std::max<std::size_t>(counts.size(), 1));
    const double mean = sum / size;
    for (const std::uint64_t n : counts)
        squares += (static_cast<double>(n) - mean) * (static_cast<double>(n) - mean);
    return {{"mean", mean},    {"deviation", std::sqrt(squares / size)},
            {"least", at(0)},  {"quartile", at(1)},
            {"median", at(2)}, {"third_quartile", at(3)},
            {"most", at(4)}};
}

/// Of all text tokens of the target, and of the shortest 98.9 %, which the paper counts.
ordered_json spellings_of(const papers::spelling_counter& counter, const vocabulary& target) {
    std::vector<std::string_view> texts;
    for (std::size_t t = 0; t < target.size(); ++t)
        if (!target.text(t).empty())
            texts.push_back(target.text(t));
    std::ranges::stable_sort(texts, {}, &std::string_view::size);
    std::vector<std::uint64_t> bytes, ways, passes;
    std::size_t impossible = 0;
    for (const std::string_view text : texts) {
        const papers::spellings found = counter.count(text);
        bytes.push_back(text.size());
        ways.push_back(found.ways);
        passes.push_back(found.contexts);
        impossible += found.ways == 0;
    }
    const auto of_first = [&](std::size_t n) -> ordered_json {
        for (auto* counts : {&bytes, &ways, &passes})
            counts->resize(n);
        return {{"tokens", n},
                {"bytes", summary(bytes)},
                {"ways", summary(ways)},
                {"passes", summary(passes)}};
    };
    ordered_json all = of_first(texts.size());
    all["without"] = impossible;
    all["shortest"] = of_first(texts.size() * 989 / 1000);
    return all;
}

ordered_json compare(const side& draft, const side& target, const equivalences& equal,
                     const std::string& text_path, const std::string& spell) {
    const auto begin = std::chrono::steady_clock::now();
    const id_map by_bytes = intersect(draft.table, target.table);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    const id_map map = intersect(draft.table, target.table, equal);
    const auto strings = papers::join_on_strings(draft.table, target.table);
    const auto signs = papers::join_on_signs(draft.table, target.table);
    const papers::spelling_counter counter(draft.table);
    const auto in_hex = [](std::uint64_t value) {
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
        return std::string(digits);
    };
    ordered_json result{
        {"draft_size", draft.table.size()},
        {"target_size", target.table.size()},
        {"byte_intersection", by_bytes.shared_targets()},
        {"string_intersection", strings.pairs},
        {"sign_intersection", signs.pairs},
        {"false_pairs", strings.false_pairs},
        {"sign_false_pairs", signs.false_pairs},
        {"draft_ids_shared", by_bytes.shared()},
        {"draft_share", ratio(by_bytes.shared(), draft.table.size())},
        {"target_share", ratio(by_bytes.shared_targets(), target.table.size())},
        {"equivalences", equal.size()},
        {"map_milliseconds", took.count()},
        {"draft_fingerprint", in_hex(map.draft_fingerprint())},
        {"target_fingerprint", in_hex(map.target_fingerprint())},
        {"lookahead_bound", papers::lookahead_bound(draft.table, target.table)},
        {"spellings", spellings_of(counter, target.table)},
    };
    if (!spell.empty())
        result["spell"] = spellings_of(counter, spell);
    if (text_path.empty())
        return result;
    if (!draft.tokenizer || !target.tokenizer)
        throw error("--text", "DRAFTER and TARGET",
                    "expected tokenizers; a plain table encodes no text");
    const std::string text = examples::read_input(text_path);
    result["text"] = {
        {"bytes", text.size()},
        {"draft",
         share_of_text(draft, text,
                       [&](std::int32_t i) { return map.to_target(draft_id{i}).valid(); })},
        {"target",
         share_of_text(target, text,
                       [&](std::int32_t i) { return map.to_draft(target_id{i}).valid(); })},
    };
    return result;
}

void print(const ordered_json& r, const std::string& draft, const std::string& target,
           const std::string& spell) {
    const auto count = [&](const char* key) { return r[key].get<std::size_t>(); };
    const auto percent = [](const ordered_json& value) { return 100.0 * value.get<double>(); };
    std::printf("drafter  %10zu ids  %s\n", count("draft_size"), draft.c_str());
    std::printf("target   %10zu ids  %s\n\n", count("target_size"), target.c_str());
    std::printf("equal bytes       %10zu target ids (%.1f %%), of %zu draft ids (%.1f %%)\n",
                count("byte_intersection"), percent(r["target_share"]), count("draft_ids_shared"),
                percent(r["draft_share"]));
    std::printf("equal strings     %10zu pairs, %zu of them false (other bytes)\n",
                count("string_intersection"), count("false_pairs"));
    std::printf("  space sign put  %10zu pairs, %zu of them false\n", count("sign_intersection"),
                count("sign_false_pairs"));
    std::printf("special tokens    %10zu pairs given\n", count("equivalences"));
    std::printf("map built in      %10.1f ms\n", r["map_milliseconds"].get<double>());
    const auto exact = [](const ordered_json& value) { // saturated
        const auto n = value.get<std::uint64_t>();
        return n == papers::spellings::most ? "2^63 - 1 or more" : std::to_string(n);
    };
    const ordered_json& s = r["spellings"];
    std::printf("\nspellings of %zu target tokens in draft tokens, %zu of them without any\n",
                s["tokens"].get<std::size_t>(), s["without"].get<std::size_t>());
    std::printf("  ways            %10s in the median, %s for the greatest\n",
                exact(s["ways"]["median"]).c_str(), exact(s["ways"]["most"]).c_str());
    std::printf("  passes for all  %10s in the median, %s for the greatest\n",
                exact(s["passes"]["median"]).c_str(), exact(s["passes"]["most"]).c_str());
    if (r.contains("spell"))
        std::printf("  of %s: %s ways, %s passes of the drafter for all\n",
                    examples::visible(spell).c_str(), exact(r["spell"]["ways"]).c_str(),
                    exact(r["spell"]["passes"]).c_str());
    std::printf("lookahead bound   %10zu draft tokens determine the first target token\n",
                count("lookahead_bound"));
    if (!r.contains("text"))
        return;
    std::printf("\nof a text of %zu bytes\n", r["text"]["bytes"].get<std::size_t>());
    for (const char* side : {"draft", "target"}) {
        const ordered_json& share = r["text"][side];
        std::printf("%-6s tokens     %10zu, %.1f %% of them shared; %zu different ones, %.1f %%\n",
                    side, share["tokens"].get<std::size_t>(), percent(share["share"]),
                    share["types"]["tokens"].get<std::size_t>(), percent(share["types"]["share"]));
    }
    for (const char* side : {"draft", "target"}) {
        const ordered_json& lines = r["text"][side]["injective"];
        std::printf("%-6s tokenizer  %10zu of %zu lines come back changed\n", side,
                    lines["changed"].get<std::size_t>(), lines["lines"].get<std::size_t>());
    }
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("What the vocabularies of a drafter and a target share.", "vocabularies");
    std::string draft_path = (models / "docs-drafter").string();
    std::string target_path = (models / "docs-target").string();
    std::string text_path, equivalences_path, spell;
    bool as_json = false;
    app.add_option("DRAFTER", draft_path, "folder, tokenizer.json, .model, .gguf, .bin or table");
    app.add_option("TARGET", target_path, "the same");
    app.add_option("--text", text_path, "a file: the share of its tokens that both have");
    app.add_option("--spell", spell, "a text: in how many ways the drafter can write it");
    app.add_option("--equivalences", equivalences_path,
                   "pairs of special tokens (default: equivalences.json in the drafter's folder)");
    app.add_flag("--json", as_json, "print one JSON object");
    return examples::run_program(app, argc, argv, [&] {
        const side draft = load(draft_path), target = load(target_path);
        const equivalences equal = equivalences_path.empty()
                                       ? examples::equivalences_beside(draft_path)
                                       : examples::read_equivalences(equivalences_path);
        const ordered_json result = compare(draft, target, equal, text_path, spell);
        if (as_json)
            std::printf("%s\n", result.dump(2).c_str());
        else
            print(result, examples::visible(draft_path), examples::visible(target_path), spell);
    });
}
