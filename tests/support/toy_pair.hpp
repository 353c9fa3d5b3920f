// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/bridge/nested_tli.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/bridge/slrs.hpp>
#include <specdec/bridge/spelling.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/union.hpp>
#include <specdec/vocab/spelling/split_tokens.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "ids.hpp"
#include "text_model.hpp"
#include "tiny_tokenizer.hpp"

namespace specdec::testing {

using target_words = tiny_tokenizer<target_id>;
using draft_words = tiny_tokenizer<draft_id>;
using words_context = retokenised_context<target_words, draft_words>;
using words_tli = tli_bridge<target_words, draft_words>;
using words_union = union_bridge<target_words, draft_words>;
using words_nested = nested_tli_bridge<target_words, draft_words>;
using words_slrs = slrs_bridge<target_words, draft_words>;
using words_spelling = spelling_bridge<target_words, draft_words>;
using words_slem = slem_bridge<target_words, draft_words>;

/// Two tokenizers over {a, b, c, space} with permuted ids: shared pieces, pieces of one side only,
/// a duplicate on the draft side, an end token that is paired and a mark without a partner.
/// Not copied: its tables view its tokenizers, and bridges borrow both.
struct toy_pair {
    toy_pair() = default;
    toy_pair(const toy_pair&) = delete;
    toy_pair& operator=(const toy_pair&) = delete;

    target_words target{{"<end>", "a", "b", "c", " ", "ab", " a", "<mark>", "abc"}};
    draft_words draft{{"<bos>", "a", " ", "ba", "c", "b", "<stop>", " a", "ca", "a"}};
    id_map map = intersect(draft.table(), target.table(), [] {
        equivalences same;
        same.add("<stop>", "<end>");
        return same;
    }());
    token_pieces pieces = split_tokens(target, draft, map);
    byte_order<draft_id> order{draft};
    safe_cuts edges{target};
    canonical_spellings spellings{target, draft, map};

    static constexpr target_id end{0};
    static constexpr target_id mark{7};
    static constexpr draft_id bos{0};
    static constexpr draft_id stop{6};

    [[nodiscard]] std::vector<target_id> encode(std::string_view text) const {
        return encoded(target, text);
    }
    [[nodiscard]] std::vector<draft_id> encode_draft(std::string_view text) const {
        return encoded<draft_id>(draft, text);
    }

    [[nodiscard]] words_tli tli(std::size_t max_draft, std::size_t capacity = 512) const {
        return {tli_map(map), words_context(target, draft, map, capacity), max_draft};
    }
    [[nodiscard]] words_union union_of(std::size_t max_draft, std::size_t capacity = 512) const {
        return {union_map(map), words_context(target, draft, map, capacity), max_draft};
    }
    [[nodiscard]] words_nested nested(std::size_t max_draft, std::size_t capacity = 512) const {
        return {pieces, words_context(target, draft, map, capacity), max_draft};
    }
    /// At most 64 drafter forwards a round, so that rules that look at whole laws may be used.
    [[nodiscard]] words_slrs slrs(std::size_t max_draft, std::size_t capacity = 512) const {
        return make_slrs_bridge(target, draft, map, order, edges, capacity,
                                {max_draft, static_cast<double>(max_draft) / 64});
    }
    [[nodiscard]] words_spelling spelling(std::size_t max_draft, std::size_t capacity = 512) const {
        return {spellings,
                words_context(target, draft, map, capacity),
                capacity,
                {.max_draft = max_draft}};
    }
    [[nodiscard]] words_slem slem(std::size_t max_draft, std::size_t capacity = 512) const {
        return {target, draft, map, capacity, max_draft};
    }
};

} // namespace specdec::testing
