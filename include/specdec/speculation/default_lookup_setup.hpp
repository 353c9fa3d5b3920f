// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include <specdec/core/token_id.hpp>
#include <specdec/draft/acceptance_table.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/lookup/guided_lookup.hpp>
#include <specdec/draft/lookup/lookup_memory.hpp>
#include <specdec/source/lookup_branch.hpp>
#include <specdec/source/lookup_or_draft.hpp>
#include <specdec/speculation/any/any_grammar.hpp>
#include <specdec/speculation/any/any_tokenizer.hpp>
#include <specdec/speculation/grammar_request.hpp>
#include <specdec/speculation/text.hpp>

namespace specdec {

/// What a text looks up by default: where its end stood before, if it looks up at all, and what its
/// grammar forces, if it has one.
using text_lookup = guided_lookup<std::optional<default_lookup>, any_forced_text>;

/// What is looked up by default beside a text's drafter, whatever its bridge. Borrows all but the
/// numbers.
struct default_lookup_setup {
    const any_tokenizer<target_id>& words;
    const text_request& request; ///< whose grammar forces text
    bool looks_up = true;        ///< false: only forced text is found
    std::size_t capacity = 0;    ///< tokens of the text
    std::size_t most = 0;        ///< tokens that are looked up a round
    lookup_memory* memory = nullptr;
    acceptance_table& table;        ///< of what is looked up
    const cost_table& lookup_costs; ///< of such rounds
    const cost_table& costs;        ///< of the drafter's
    drafter_ahead& ahead;           ///< of its rounds where forced text is found

    [[nodiscard]] lookup_hit_tokens<text_lookup, any_tokenizer<target_id>> found() const {
        std::optional<default_lookup> lookup;
        if (looks_up)
            lookup.emplace(make_default_lookup(capacity, lookup_hit_bytes(most), memory));
        return {text_lookup(std::move(lookup), forced_text_of(request, words)), words, most};
    }
};

/// A bridge of chains, of at most max_proposals tokens, beside which is looked up, or not: one type
/// either way, so that no rule is compiled twice.
template <class Bridge>
[[nodiscard]] auto lookup_or_chains(Bridge bridge, const std::optional<default_lookup_setup>& usual,
                                    std::size_t max_proposals) {
    using type = lookup_or_draft<Bridge, text_lookup, any_tokenizer<target_id>>;
    std::optional<typename type::lookup_type> lookup;
    if (usual)
        lookup.emplace(typename type::lookup_type{
            usual->found(),
            lookup_turns(usual->table, usual->lookup_costs, usual->costs, &usual->ahead)});
    return type(std::move(bridge), std::move(lookup), max_proposals);
}

/// The same of a bridge of trees.
template <class Bridge>
[[nodiscard]] auto lookup_or_trees(Bridge bridge,
                                   const std::optional<default_lookup_setup>& usual) {
    using type = lookup_branch<Bridge, text_lookup, any_tokenizer<target_id>>;
    std::optional<typename type::lookup_type> lookup;
    if (usual)
        lookup.emplace(typename type::lookup_type{
            usual->found(), lookup_length(usual->table, usual->lookup_costs)});
    return type(std::move(bridge), std::move(lookup));
}

} // namespace specdec
