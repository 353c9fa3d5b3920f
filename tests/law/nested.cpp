// SPDX-License-Identifier: MIT
// The output law of nested TLI under every lossless rule, enumerated through session and generate.
#include <specdec/bridge/nested_tli.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tli.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/vocab/spelling/split_tokens.hpp>

#include "bridge_cases.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr block_verification block{.thinning = {1, 1}};
/// Leaves out the bytes that no piece matches.
template <class Id>
class patient_words : public tiny_tokenizer<Id> {
public:
    using tiny_tokenizer<Id>::tiny_tokenizer;
    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        for (; !text.empty(); text.remove_prefix(1)) {
            std::size_t best = 0;
            for (std::size_t i = 0; i < this->vocabulary_size(); ++i)
                if (const auto bytes = this->bytes(id_at<Id>(i)); text.starts_with(bytes))
                    best = bytes.size() > best ? bytes.size() : best;
            if (best == 0)
                continue;
            tiny_tokenizer<Id>::encode(text.substr(0, best), where, out);
            text.remove_prefix(best - 1);
        }
    }
};
using target_text = patient_words<target_id>;
using draft_text = patient_words<draft_id>;
using bridge_type = nested_tli_bridge<target_text, draft_text>;
using context = retokenised_context<target_text, draft_text>;

/// Two tokenizers over {a, b}; id 0 is the prompt's token (a) on both sides. A control token is
/// joined where both sides name it <end>.
struct nested_pair {
    target_text target;
    draft_text draft;
    id_map map;
    token_pieces pieces;

    nested_pair(const std::vector<std::string>& target_pieces,
                const std::vector<std::string>& draft_pieces)
        : target(target_pieces), draft(draft_pieces),
          map(intersect(draft.table(), target.table(),
                        [&] {
                            equivalences same;
                            if (draft_pieces.back() == "<end>" && target_pieces.back() == "<end>")
                                same.add("<end>", "<end>");
                            return same;
                        }())),
          pieces(split_tokens(target, draft, map)) {}

    [[nodiscard]] bridge_type bridge(std::size_t max_draft, std::size_t max_proposals = 16) const {
        return {pieces, context(target, draft, map, 16), max_draft, max_proposals};
    }
    [[nodiscard]] auto maker() const {
        return [this](std::size_t gamma) { return bridge(gamma); };
    }
    [[nodiscard]] std::size_t t() const { return target.vocabulary_size(); }
    [[nodiscard]] std::size_t d() const { return draft.vocabulary_size(); }
};

/// Drafts of `gamma` draft tokens whose pieces are not cut, or cut by the room for `length` - 1.
template <class CoinType, class Rule>
void check_nested(const Rule& rule, const nested_pair& two, std::size_t gamma, std::size_t length,
                  const sampling_parameters& parameters = {}, double threshold = 0) {
    for_every_pair_of_rows(two.t(), two.d(), [&](row_tree& p, row_tree& q) {
        CAPTURE(gamma, length);
        const law_case c{p, q, gamma, length, parameters, threshold};
        REQUIRE(total_variation(session_law<CoinType>(two.bridge(gamma), rule, c),
                                target_alone(p, length, parameters)) < exact);
    });
}

/// Every rule, drafts of one and two draft tokens, stop rules and cuts. With the interval coin a
/// piece has a path for each draft token that begins with it: not for long pieces.
template <class CoinType = interval_coin>
void check_every_rule(const nested_pair& two, std::size_t longest) {
    check_nested<CoinType>(rejection, two, 1, longest + 1);
    check_nested<CoinType>(block, two, 1, longest + 1);
    check_nested<CoinType>(exact_match{}, two, 1, longest + 1);
    check_nested<CoinType>(rejection, two, 2, 4);
    check_nested<CoinType>(block, two, 2, 4);
    if (two.t() == 2) // drafts that are not cut
        check_nested<CoinType>(block, two, 2, 2 * longest + 1 < 6 ? 2 * longest + 1 : 6);
    check_nested<CoinType>(block, two, 3, 4, {}, 0.4);
    check_nested<CoinType>(rejection, two, 2, 4, {.temperature = 0.7F, .top_k = 2});
    check_nested<CoinType>(block, two, 2, 4, {.temperature = 0.7F, .top_k = 3});
    check_nested<CoinType>(block, two, 2, 4, {.top_p = 0.6F});
    check_nested<CoinType>(rejection, two, 2, 4, {.temperature = 0});
    check_nested<CoinType>(block, two, 2, 4, {.temperature = 0});
}

} // namespace

TEST_CASE("nested TLI: the law of the target, a piece of the drafter's own", "[law]") {
    const nested_pair two({"a", "b", "ab", "<end>"}, {"a", "ba", "b", "<end>"});
    check_every_rule(two, 2);
    check_rounds(two.maker(), two.t(), two.d());
    check_rounds_of(block, two.maker(), two.t(), two.d());
}

TEST_CASE("nested TLI: tokens of three and four pieces, one the beginning of another", "[law]") {
    check_every_rule<enumerating_coin>(nested_pair({"a", "b"}, {"a", "bab", "ba", "b", "baba"}), 4);
}

TEST_CASE("nested TLI: no draft token is a single piece of its first", "[law]") {
    // The target's a is never whole: behind it there is always more.
    check_every_rule<enumerating_coin>(nested_pair({"a", "b"}, {"ab", "abb", "b", "aa"}), 3);
}

TEST_CASE("nested TLI: duplicates, shared and not", "[law]") {
    check_every_rule(nested_pair({"a", "b"}, {"a", "ba", "b", "a", "ba"}), 2);
}

TEST_CASE("nested TLI: control tokens and bytes that the target lacks are never drawn", "[law]") {
    const nested_pair two({"a", "b", "<end>"}, {"a", "<only>", "bb", "ac", "<end>"});
    REQUIRE(two.pieces.size() == 3);
    check_every_rule(two, 2);
}

TEST_CASE("nested TLI with all tokens shared keeps what TLI keeps", "[law]") {
    const nested_pair two({"b", "a", "ab"}, {"a", "b"});
    for_every_pair_of_rows(two.t(), two.d(), [&](row_tree& p, row_tree& q) {
        const law_case c{p, q, 2, 3};
        const tli_bridge<target_text, draft_text> tli(
            tli_map(two.map), context(two.target, two.draft, two.map, 16), 2);
        REQUIRE(mean_kept(two.bridge(2), rejection, c) ==
                Approx(mean_kept(tli, rejection, c)).margin(exact));
    });
}

TEST_CASE("nested TLI keeps more than TLI on average", "[law]") {
    // Not a theorem: a row may suit one and not the other. The same number of draft tokens.
    const nested_pair two({"a", "b", "ab"}, {"a", "bab", "b", "ba"});
    double nested = 0, tli = 0, nested_block = 0;
    constexpr std::size_t cases = 60;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        row_tree p(toy_rows(row_kind::random, two.t(), seed));
        row_tree q(toy_rows(row_kind::random, two.d(), seed + 1000));
        const law_case c{p, q, 2, 5};
        const tli_bridge<target_text, draft_text> plain(
            tli_map(two.map), context(two.target, two.draft, two.map, 16), 2);
        nested += mean_kept(two.bridge(2), rejection, c) / cases;
        nested_block += mean_kept(two.bridge(2), block, c) / cases;
        tli += mean_kept(plain, rejection, c) / cases;
    }
    CAPTURE(nested, nested_block, tli);
    CHECK(nested > tli);
    CHECK(nested_block > nested);
}
