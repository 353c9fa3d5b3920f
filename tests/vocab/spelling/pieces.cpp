// SPDX-License-Identifier: MIT
#include <specdec/vocab/spelling/pieces.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>
#include <specdec/vocab/spelling/split_tokens.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace pieces_tests {

using target_words = tiny_tokenizer<target_id>;
using draft_words = tiny_tokenizer<draft_id>;
using ids = std::vector<int>;

ids pieces_of(const token_pieces& table, int d) {
    return values_of(table.of(draft_id{d}));
}

/// A target tokenizer that writes upper case as lower case and single letters only: what it encodes
/// need not be the text.
struct normalising {
    target_words words;
    [[nodiscard]] std::size_t vocabulary_size() const { return words.vocabulary_size(); }
    [[nodiscard]] std::string_view bytes(target_id t) const { return words.bytes(t); }
    void encode(std::string_view text, encode_mode where, std::vector<target_id>& out) const {
        for (const char c : text) {
            const std::string letter(1,
                                     c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
            words.encode(letter, where, out);
        }
    }
};

/// Random tables over an alphabet of `size` pieces, some draft tokens outside.
struct random_table {
    id_map map;
    token_pieces table;

    static random_table make(std::uint64_t seed, std::size_t drafts, std::size_t targets) {
        std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
        const auto next = [&](std::uint64_t below) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            return state % below;
        };
        std::vector<std::uint32_t> ends;
        std::vector<target_id> pieces;
        std::vector<std::int32_t> forward(drafts, -1), back(targets, -1);
        for (std::size_t d = 0; d < drafts; ++d) {
            const std::size_t count = next(5);
            for (std::size_t i = 0; i < count; ++i)
                pieces.push_back(id_at<target_id>(next(targets)));
            ends.push_back(static_cast<std::uint32_t>(pieces.size()));
            if (count == 1) {
                forward[d] = pieces.back().value;
                if (back[pieces.back().index()] < 0 || next(2) == 0)
                    back[pieces.back().index()] = static_cast<std::int32_t>(d);
            }
        }
        id_map map(forward, back, 0, 0);
        token_pieces table(map, ends, pieces);
        return {std::move(map), std::move(table)};
    }
};

TEST_CASE("split: shared tokens are themselves, others what the target writes, else nothing") {
    const target_words target{{"a", "b", "ab", "abc", "<end>", "c"}};
    const draft_words draft{
        {"ab", "ba", "abab", "<bos>", "<stop>", "cabc", "<eos>", "cb", "c", "c"}};
    const id_map map = intersect(draft.table(), target.table(), [] {
        equivalences same;
        same.add("<stop>", "<end>");
        return same;
    }());
    const token_pieces table = split_tokens(target, draft, map);
    CHECK(table.draft_size() == 10);
    CHECK(table.target_size() == 6);
    CHECK(pieces_of(table, 0) == ids{2});
    CHECK(pieces_of(table, 1) == ids{1, 0});
    CHECK(pieces_of(table, 2) == ids{2, 2});
    CHECK(pieces_of(table, 3).empty()); // control, without an equivalent
    CHECK(pieces_of(table, 4) == ids{4});
    CHECK(pieces_of(table, 5) == ids{5, 3});
    CHECK(pieces_of(table, 6).empty());
    CHECK(pieces_of(table, 7) == ids{5, 1});
    CHECK(pieces_of(table, 8) == ids{5});
    CHECK(pieces_of(table, 9) == ids{5});
    CHECK(table.size() == 8);
    for (int d = 0; d < 10; ++d) { // the pieces spell the token
        std::string spelt;
        for (const int t : pieces_of(table, d))
            spelt += target.bytes(target_id{t});
        if (!pieces_of(table, d).empty())
            CHECK(spelt == draft.bytes(draft_id{d}));
    }
}

TEST_CASE("split: where the target's own encoding is not the text, the fewest tokens that are") {
    const normalising target{target_words({"a", "b", "A", "bc", "c", "bA", "Ab"})};
    // x is unknown to the target; "aAb" would come back as "aab".
    const draft_words draft{{"aAb", "abc", "abA", "AbA", "xA"}};
    const vocabulary table = target.words.table();
    const id_map map = intersect(draft.table(), table);
    class upper : public normalising {
    public:
        explicit upper(const normalising& n) : normalising(n) {}
        void encode(std::string_view text, encode_mode where, std::vector<target_id>& out) const {
            if (text.find('x') == std::string_view::npos)
                normalising::encode(text, where, out);
        }
    };
    const token_pieces pieces = split_tokens(upper(target), draft, map);
    CHECK(pieces_of(pieces, 0) == ids{0, 6});    // a Ab
    CHECK(pieces_of(pieces, 1) == ids{0, 1, 4}); // its own a b c, though a bc are fewer
    CHECK(pieces_of(pieces, 2) == ids{0, 5});    // a bA
    CHECK(pieces_of(pieces, 3) == ids{6, 2});    // Ab A before A bA: the longer one first
    CHECK(pieces_of(pieces, 4).empty());
}

TEST_CASE("split: padding ids of the map's draft side have no pieces") {
    const target_words target{{"a"}};
    const draft_words draft{{"a"}};
    const id_map map({0, -1, -1}, {0, -1}, 0, 0);
    const token_pieces table = split_tokens(target, draft, map);
    CHECK(table.draft_size() == 3);
    CHECK(table.target_size() == 2);
    CHECK(table.size() == 1);
}

TEST_CASE("ranges of random tables are what a search through all draft tokens finds") {
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        constexpr std::size_t drafts_count = 120, targets = 4;
        const random_table random = random_table::make(seed, drafts_count, targets);
        const token_pieces& table = random.table;
        std::size_t with_pieces = 0;
        for (std::size_t d = 0; d < drafts_count; ++d)
            with_pieces += table.of(id_at<draft_id>(d)).empty() ? 0U : 1U;
        REQUIRE(table.size() == with_pieces);
        const auto walk = [&](const auto& again, piece_range range, const ids& prefix) -> void {
            std::multimap<ids, int> expected; // all that begin with the prefix and go on
            for (std::size_t d = 0; d < drafts_count; ++d) {
                const ids own = pieces_of(table, static_cast<int>(d));
                if (own.size() > prefix.size() &&
                    std::equal(prefix.begin(), prefix.end(), own.begin()))
                    expected.emplace(own, static_cast<int>(d));
            }
            REQUIRE(range.size() == expected.size());
            REQUIRE(range.depth == prefix.size());
            std::size_t entry = range.begin;
            for (const auto& [own, d] : expected)
                REQUIRE(pieces_of(table, table.entry(entry++).value) == own);
            for (int t = 0; t < static_cast<int>(targets); ++t) {
                const piece_range next = table.with_next(range, target_id{t});
                REQUIRE(next.begin == table.lower_bound(range, static_cast<std::size_t>(t)));
                ids longer = prefix;
                longer.push_back(t);
                const piece_range pending = table.longer(next);
                for (std::size_t e = next.begin; e < pending.begin; ++e)
                    REQUIRE(pieces_of(table, table.entry(e).value) == longer);
                REQUIRE(pending.end == next.end);
                if (pending.size() > 0)
                    again(again, pending, longer);
            }
        };
        walk(walk, table.all(), {});
        for (std::size_t e = 1; e < table.size(); ++e) { // canonical, then ascending
            const draft_id a = table.entry(e - 1), b = table.entry(e);
            const ids own = pieces_of(table, a.value);
            if (own != pieces_of(table, b.value))
                continue;
            const bool first = own.size() == 1 && random.map.to_draft(target_id{own[0]}) == a;
            REQUIRE((first || a < b));
        }
    }
}

TEST_CASE("gather puts a row in the order of the entries") {
    const random_table random = random_table::make(7, 50, 3);
    std::vector<float> row(50), out(random.table.size());
    for (std::size_t i = 0; i < 50; ++i)
        row[i] = static_cast<float>(i);
    random.table.gather(row, out);
    for (std::size_t e = 0; e < out.size(); ++e)
        CHECK(out[e] == static_cast<float>(random.table.entry(e).value));
}

TEST_CASE("tables that do not fit the map are refused") {
    const id_map map = id_map::identity(2, 3);
    const auto make = [&](std::vector<std::uint32_t> ends, std::vector<target_id> pieces) {
        return token_pieces(map, std::move(ends), std::move(pieces));
    };
    CHECK(make({1, 2}, {target_id{0}, target_id{2}}).size() == 2);
    CHECK_THROWS_AS(make({1}, {target_id{0}}), error);
    CHECK_THROWS_AS(make({1, 1}, {target_id{0}, target_id{2}}), error);
    CHECK_THROWS_AS(make({2, 1}, {target_id{0}}), error);
    CHECK_THROWS_AS(make({3, 2}, {target_id{0}, target_id{1}}), error);
    CHECK_THROWS_AS(make({1, 2}, {target_id{0}, target_id{3}}), error);
    CHECK_THROWS_AS(make({1, 2}, {target_id{0}, target_id{}}), error);
    CHECK(token_pieces(id_map(), {}, {}).size() == 0);
}

} // namespace pieces_tests
