// SPDX-License-Identifier: MIT
#include "papers/spellings.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <range/v3/algorithm/sort.hpp>
#include <range/v3/algorithm/stable_sort.hpp>
#include <range/v3/view/take.hpp>

#include "support/holds.hpp"
#include "support/tables.hpp"
#include "support/vocab_tsv.hpp"

namespace spellings_tests {

using namespace specdec;
using namespace specdec::papers;
using testing::table_of;

/// By trying every token at every place.
spellings try_all(const vocabulary& draft, std::string_view rest) {
    if (rest.empty())
        return {1, 0};
    spellings found;
    for (std::size_t d = 0; d < draft.size(); ++d)
        if (!draft.text(d).empty() && rest.starts_with(draft.text(d))) {
            const spellings behind = try_all(draft, rest.substr(draft.text(d).size()));
            found.ways += behind.ways;
            found.contexts += behind.contexts;
        }
    if (found.ways > 0)
        ++found.contexts;
    return found;
}

TEST_CASE("spellings: ways and contexts by hand") {
    // Lemma 3.3: in a complete vocabulary 2^(m - 1) ways.
    const vocabulary complete = table_of({"a", "b", "aa", "ab", "ba", "bb", "aaa", "bbb"});
    const spelling_counter counter(complete);
    CHECK(counter.count("aaa") == spellings{4, 4});
    CHECK(counter.count("b") == spellings{1, 1});
    CHECK(counter.count("") == spellings{1, 0});
    CHECK(counter.count("c") == spellings{});
    CHECK(counter.count("aac") == spellings{}); // no use asking: it cannot be finished

    // The example of the paper's lookahead.
    const spelling_counter words(table_of({"hello_", "world", "wo", "rld"}));
    CHECK(words.count("hello_world") == spellings{2, 3});
}

TEST_CASE("spellings: which tokens count") {
    vocabulary draft = table_of({"a", "b", "b"});
    draft.add("ab", token_kind::user);
    draft.add("a", token_kind::byte);
    draft.add("ab", token_kind::control);
    draft.add("ab", token_kind::unused);
    draft.add("", token_kind::normal);
    CHECK(spelling_counter(draft).count("ab") == spellings{3, 2});
    CHECK(spelling_counter(draft, byte_tokens::counted).count("ab") == spellings{5, 3});
}

TEST_CASE("spellings: equal to trying everything, whatever the vocabularies") {
    const auto letters = any_of(std::vector<char>{'a', '\0', '\xff'});
    const auto words = [&](std::size_t longest) {
        return up_to(8, rc::gen::pair(letters, up_to(longest - 1, letters)));
    };
    const auto table = [](const auto& drawn) {
        vocabulary v;
        for (const auto& [first, more] : drawn)
            v.add(first + std::string(more.begin(), more.end()), token_kind::normal);
        return v;
    };
    testing::require_holds(
        [&] {
            const vocabulary draft = table(*words(4)), target = table(*words(9));
            const spelling_counter counter(draft);
            for (std::size_t t = 0; t < target.size(); ++t)
                RC_ASSERT(counter.count(target.text(t)) == try_all(draft, target.text(t)));
        },
        {.cases = 200});
}

TEST_CASE("spellings: counts saturate") {
    const spelling_counter counter(table_of({"a", "aa", "aaa", "aaaa"}));
    std::uint64_t before = 1;
    bool saturated = false;
    for (std::size_t n = 1; n < 200; ++n) {
        const spellings s = counter.count(std::string(n, 'a'));
        REQUIRE(s.ways >= before);
        REQUIRE(s.ways <= spellings::most);
        REQUIRE(s.contexts <= spellings::most);
        saturated = saturated || s.ways == spellings::most;
        REQUIRE(saturated == (s.ways == spellings::most));
        before = s.ways;
    }
    CHECK(counter.count(std::string(199, 'a')) == spellings{spellings::most, spellings::most});

    const spelling_counter three(table_of({"a", "a", "a"})); // products, too
    CHECK(three.count(std::string(39, 'a')).ways == 4052555153018976267u);
    CHECK(three.count(std::string(40, 'a')).ways == spellings::most);
    CHECK(three.count(std::string(90, 'a')) == spellings{spellings::most, spellings::most});
}

/// The smallest, the quartiles and the greatest number of ways of the n shortest text tokens, of
/// equally long ones those of lower ids.
std::vector<std::uint64_t> ways_of_shortest(const vocabulary& target, std::size_t n) {
    const spelling_counter counter(target);
    std::vector<std::size_t> ids;
    for (std::size_t t = 0; t < target.size(); ++t)
        if (!target.text(t).empty())
            ids.push_back(t);
    ranges::stable_sort(ids, {}, [&](std::size_t t) { return target.text(t).size(); });
    std::vector<std::uint64_t> ways;
    for (const std::size_t t : ids | ranges::views::take(n))
        ways.push_back(counter.count(target.text(t)).ways);
    ranges::sort(ways);
    const std::size_t last = ways.size() - 1;
    return {ways[0], ways[last / 4], ways[last / 2], ways[3 * last / 4], ways[last]};
}

/// Counts of every token against a file of another program's. Returns how many there are.
std::size_t compare_with_tree(const std::string& draft, const std::string& target) {
    const vocabulary table_of_target = test::read_vocabulary(target);
    const spelling_counter counts(test::read_vocabulary(draft));
    const std::string name = draft + "-to-" + target + ".tree.tsv.gz";
    const std::string own = test::vocabulary_file(name);
    std::istringstream lines(test::read_text(
        std::filesystem::exists(own) ? own : test::vocabulary_folder + "derived/" + name));
    std::string line;
    std::size_t compared = 0;
    while (std::getline(lines, line)) {
        if (line.starts_with('#'))
            continue;
        std::istringstream fields(line);
        std::size_t t = 0;
        std::string ways, contexts;
        fields >> t >> ways >> contexts;
        const auto printed = [](std::uint64_t n) {
            return n == spellings::most ? "-" : std::to_string(n);
        };
        const spellings found = counts.count(table_of_target.text(t));
        REQUIRE(ways == printed(found.ways));
        REQUIRE(contexts == printed(found.contexts));
        ++compared;
    }
    return compared;
}

TEST_CASE("counts of spellings of real pieces, as another program counts them") {
    const spelling_counter qwen2(test::read_vocabulary("qwen2_part"));
    CHECK(qwen2.count("hello") == spellings{10, 13});
    CHECK(compare_with_tree("stories512", "mistral_v1_part") == 5741);
}

TEST_CASE("published counts of spellings", "[shared]") {
    if (!test::has_vocabularies())
        return;
    // Timor et al., Figure 1 and Table 8, whose "length in characters" is that of the byte-level
    // alphabet, one letter a byte (decoded to text the greatest number would be 4,479,742).
    const vocabulary qwen2 = test::read_vocabulary("qwen2");
    const spelling_counter counter(qwen2);
    CHECK(counter.count("hello") == spellings{14, 16});
    CHECK(ways_of_shortest(qwen2, 150000) == std::vector<std::uint64_t>{1, 7, 15, 56, 65536});
    CHECK(compare_with_tree("stories512", "llama2") == 31741);
    CHECK(compare_with_tree("llama2", "llama3") == 128000);
}

} // namespace spellings_tests
