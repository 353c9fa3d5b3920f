// SPDX-License-Identifier: MIT
// What a lookup costs a token, behind a million indexed bytes (this repository's own sources), and
// the bytes of memory a byte of text. A round of one token is the worst case: everything is looked
// up for it alone, and nothing of what is found comes true.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include <specdec/draft/lookup/best_lookup.hpp>
#include <specdec/draft/lookup/ngram_table.hpp>
#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/lookup/suffix_lookup.hpp>

namespace {

using namespace specdec;
constexpr std::size_t million = std::size_t{1} << 20, token = 4; // bytes

/// The sources of a folder, one after the other.
std::string sources(const char* folder) {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(SPECDEC_SOURCE_DIR) / folder))
        if (entry.is_regular_file())
            files.insert(entry.path());
    std::string text;
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        text.append(std::istreambuf_iterator<char>(in), {});
    }
    return text;
}
const std::string& indexed() {
    static const std::string text = [] {
        std::string all = sources("include") + sources("examples");
        while (all.size() < million)
            all += all;
        return all.substr(0, million);
    }();
    return text;
}
/// Text of the same kind that goes on behind it.
const std::string& following() {
    static const std::string text = sources("tests").substr(0, million / 4);
    return text;
}

/// The text is followed a token at a time, and looked up each time.
template <class Lookup>
void rounds_of_one_token(benchmark::State& state, Lookup& lookup, std::size_t wanted) {
    lookup_hit found;
    found.reserve(wanted);
    const std::string& text = following();
    std::size_t at = 0, bytes = 0;
    for (auto _ : state) {
        lookup.follow(std::string_view(text).substr(at, token));
        lookup.find(wanted, found);
        bytes += found.bytes.size();
        at = at + 2 * token < text.size() ? at + token : 0;
    }
    state.counters["bytes found"] =
        static_cast<double>(bytes) / static_cast<double>(state.iterations());
}

void report_memory(benchmark::State& state, std::size_t bytes) {
    state.counters["memory a byte"] = static_cast<double>(bytes) / static_cast<double>(million);
}

void prompt_lookup_a_token(benchmark::State& state) {
    prompt_lookup lookup(million + million / 4);
    lookup.follow(indexed());
    rounds_of_one_token(state, lookup, static_cast<std::size_t>(state.range(0)));
    report_memory(state, lookup.index().memory() * 4 / 5);
}
BENCHMARK(prompt_lookup_a_token)->Arg(4)->Arg(64);

void suffix_lookup_a_token(benchmark::State& state) {
    byte_index index({.bytes = million + million / 4, .short_ends = false});
    auto one = shared_suffixes(index), other = shared_suffixes(index);
    one.follow(indexed());
    rounds_of_one_token(state, other, static_cast<std::size_t>(state.range(0)));
    report_memory(state, index.memory() * 4 / 5);
}
BENCHMARK(suffix_lookup_a_token)->Arg(4)->Arg(64);

void ngram_lookup_a_token(benchmark::State& state) {
    ngram_table table;
    ngram_lookup one(table), other(table);
    one.follow(indexed());
    rounds_of_one_token(state, other, static_cast<std::size_t>(state.range(0)));
    report_memory(state, table.memory());
}
BENCHMARK(ngram_lookup_a_token)->Arg(4)->Arg(64);

void follow_a_token(benchmark::State& state) {
    byte_index index({.bytes = million + million / 4});
    auto lookup = shared_suffixes(index);
    lookup.follow(indexed());
    const std::string& text = following();
    std::size_t at = 0;
    for (auto _ : state) {
        lookup.follow(std::string_view(text).substr(at, token));
        at = at + 2 * token < text.size() ? at + token : 0;
    }
}
BENCHMARK(follow_a_token);

} // namespace
