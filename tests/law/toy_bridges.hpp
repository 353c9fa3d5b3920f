// SPDX-License-Identifier: MIT
// The bridges of small pairs of vocabularies, made anew for every text.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/nested_tli.hpp>
#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/bridge/slrs.hpp>
#include <specdec/bridge/spelling.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/bridge/union.hpp>
#include <specdec/sampling/coin/text_keys.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>
#include <specdec/vocab/spelling/split_tokens.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "play.hpp"
#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"

namespace specdec::testing {

/// Two vocabularies and the tables of all bridges. Not copied: tables view tokenizers.
struct toy_words {
    using target_words = tiny_tokenizer<target_id>;
    using draft_words = tiny_tokenizer<draft_id>;
    using context = retokenised_context<target_words, draft_words>;

    target_words target;
    draft_words draft;
    id_map map = intersect(draft.table(), target.table());
    token_pieces pieces = split_tokens(target, draft, map);
    byte_order<draft_id> order{draft};
    safe_cuts edges{target};
    canonical_spellings spellings{target, draft, map};
    text_keys keys{target, map};

    toy_words(const std::vector<std::string>& t, const std::vector<std::string>& d)
        : target(t), draft(d) {}
    toy_words(const toy_words&) = delete;
    toy_words& operator=(const toy_words&) = delete;

    [[nodiscard]] std::size_t target_size() const { return target.vocabulary_size(); }
    [[nodiscard]] std::size_t draft_size() const { return draft.vocabulary_size(); }
    [[nodiscard]] context text() const { return {target, draft, map, 16}; }

    [[nodiscard]] auto identity() const {
        return [this](std::size_t n, auto use) {
            use(make_identity_bridge(draft_size(), target_size(), 16, n));
        };
    }
    [[nodiscard]] auto tli() const {
        return [this](std::size_t n, auto use) {
            use(tli_bridge<target_words, draft_words>(tli_map(map), text(), n));
        };
    }
    [[nodiscard]] auto tli_trees() const {
        return [this](const tree_settings& settings) {
            return tli_tree_bridge<target_words, draft_words>(tli_map(map), text(), settings);
        };
    }
    [[nodiscard]] auto union_of() const {
        return [this](std::size_t n, auto use) {
            use(union_bridge<target_words, draft_words>(union_map(map), text(), n));
        };
    }
    [[nodiscard]] auto nested() const {
        return [this](std::size_t n, auto use) {
            use(nested_tli_bridge<target_words, draft_words>(pieces, text(), n));
        };
    }
    [[nodiscard]] auto slem() const {
        return [this](std::size_t n, auto use) { use(slem_bridge(target, draft, map, 16, n)); };
    }
    [[nodiscard]] auto spelling() const {
        return [this](std::size_t n, auto use) {
            use(spelling_bridge(spellings, text(), 16, {.max_draft = n}));
        };
    }
    [[nodiscard]] auto slrs(double lightest) const {
        return [this, lightest](std::size_t n, auto use) {
            use(make_slrs_bridge(target, draft, map, order, edges, 16, {n, lightest}));
        };
    }
    /// With a cache that holds as many n-grams as it is given, and so changes with every round that
    /// learns another.
    [[nodiscard]] auto merge(double lightest,
                             std::vector<std::pair<std::vector<int>, int>> ngrams) const {
        return [this, lightest, ngrams = std::move(ngrams)](std::size_t n, auto use) {
            ngram_cache<lru> cache({.capacity = ngrams.size()});
            for (const auto& [spelling, t] : ngrams)
                cache.insert(ids_of(spelling), target_id{t});
            use(make_ngram_merge_bridge(cache, target, draft, map, order, 16, {n, lightest}));
        };
    }
};

/// Ids permuted, a draft token twice, the beginnings of others, tokens of one side only.
inline const toy_words& permuted_words() {
    static const toy_words two({"a", "b", "ab"}, {"b", "a", "ba", "a"});
    return two;
}

/// Two spellings of aa, one of them by chance.
inline const toy_words& twofold_words() {
    static const toy_words two({"a", "b", "aa"}, {"a", "b"});
    return two;
}

/// Scenarios of a bridge of the pair under every lossless rule; the pair's last target token is the
/// one that ends drafts.
inline void check_session_rules(const char* bridge, const toy_words& two, const auto& with_bridge,
                                std::vector<scenario> (*which)(target_id) = every_scenario) {
    check_scenarios(bridge, two, which(id_at<target_id>(two.target_size() - 1)), with_bridge,
                    by_rejection, by_block, by_match, by_coupling(two.keys));
}

} // namespace specdec::testing
