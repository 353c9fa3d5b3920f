// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/nested_tli.hpp>
#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/bridge/no_bridge.hpp>
#include <specdec/bridge/paper_merge.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/bridge/slrs.hpp>
#include <specdec/bridge/spelling.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/tree/slem_tree_bridge.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/bridge/union.hpp>
#include <specdec/core/error.hpp>
#include <specdec/draft/lookup/lookup_bridge.hpp>
#include <specdec/draft/lookup/lookup_memory.hpp>
#include <specdec/draft/recycled/recycled_bridge.hpp>
#include <specdec/draft/recycled/recycled_tree_bridge.hpp>
#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/speculation/default_lookup_setup.hpp>
#include <specdec/speculation/drafting_settings.hpp>
#include <specdec/speculation/running_sequence.hpp>
#include <specdec/speculation/sequence_pool.hpp>
#include <specdec/speculation/shared_tables.hpp>
#include <specdec/speculation/side.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>
#include <specdec/verify/tree/coupled_tree_match.hpp>
#include <specdec/verify/tree/recursive_rejection.hpp>
#include <specdec/verify/tree/traversal_verification.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>

namespace specdec {

/// A text under a rule by name: where each name gets its bridge, verifier and coin. draft: null
/// without a drafter, for rules that take none; lookup: of rules lookup and recycling.
class sequence_opener {
public:
    sequence_opener(const any_tokenizer<target_id>& words, const drafting_side* draft,
                    shared_tables& tables, lookup_limits lookup = {})
        : words_(words), draft_(draft), tables_(tables), lookup_(std::move(lookup)) {}

    template <std::same_as<rule> Rule> // so that naming it does not compile all of them
    [[nodiscard]] std::unique_ptr<speculative_text>
    operator()(Rule how, const text_request& request, const decode_settings& s,
               sequence_spec parts) {
        request_ = &request;
        settings_ = &s;
        parts_ = &parts;
        const std::size_t capacity = parts.settings.capacity, most = s.lengths.length,
                          n = parts.own_proposals;
        if (how == rule::autoregressive)
            return alone(no_bridge{});
        if (!takes_drafter(how))
            draft_alone(parts, lookup_);
        if (how == rule::recycling)
            return recycled(successors_of(s, parts, tables_));
        if (how == rule::lookup)
            return alone(
                lookup_bridge(make_default_lookup(capacity, lookup_hit_bytes(lookup_.max_draft),
                                                  lookup_memory_of(s, parts, tables_)),
                              words_, lookup_));

        const any_tokenizer<draft_id>& pieces = draft_->side.tokenizer;
        const id_map& map = draft_->map;
        const auto identity = [&] {
            return make_identity_bridge(pieces.vocabulary_size(), words_.vocabulary_size(),
                                        capacity, most);
        };
        const auto context = [&] { return retokenised_context(words_, pieces, map, capacity); };
        const auto tli = [&] { return token_bridge(tli_map(map), context(), most); };
        const auto nested = [&] { return nested_tli_bridge(tables_.pieces(), context(), most, n); };
        const auto slem = [&] { return slem_bridge(words_, pieces, map, capacity, most); };
        const pushforward_limits limits{draft_tokens(how, most), s.min_draft_probability};
        if (parts.tree)
            return draft_trees(how, context);
        switch (how) {
        case rule::identity:
            return with(identity(), token_rejection{});
        case rule::identity_block:
            return with(identity(), block_verification{});
        case rule::union_of_both:
            return with(token_bridge(union_map(map), context(), most), token_rejection{});
        case rule::tli:
            return with(tli(), token_rejection{});
        case rule::tli_exact:
            return with(tli(), exact_match{});
        case rule::tli_block:
            return with(tli(), block_verification{});
        case rule::nested:
            return with(nested(), token_rejection{});
        case rule::nested_block:
            return with(nested(), block_verification{});
        case rule::slrs:
            return with(make_slrs_bridge(words_, pieces, map, tables_.order(), tables_.edges(),
                                         capacity, limits),
                        token_rejection{});
        case rule::merge:
            return with(make_ngram_merge_bridge(ngrams(), words_, pieces, map, tables_.order(),
                                                capacity, limits),
                        token_rejection{});
        case rule::merge_paper:
            return with(
                lossy::paper_merge_bridge(merging(ngrams(), words_, pieces, map, tables_.order()),
                                          map, context(), most),
                token_rejection{});
        case rule::coupled:
            return coupled(tli());
        case rule::coupled_slem:
            return coupled(slem());
        case rule::coupled_spelling:
            return coupled(
                spelling_bridge(tables_.spellings(), context(), 2 * capacity, {.max_draft = most}));
        case rule::slem:
            return with(slem(), exact_match{});
        case rule::autoregressive: // above, as they take no drafter
        case rule::lookup:
        case rule::recycling:
            break;
        }
        fail("rule", std::string(about(how).name), "expected a rule that takes a drafter");
    }

private:
    template <class Context>
    [[nodiscard]] std::unique_ptr<speculative_text> draft_trees(rule how, const Context& context) {
        const tree_settings& shape = parts_->tree->settings();
        const std::size_t capacity = parts_->settings.capacity;
        const auto identity = [&, n = words_.vocabulary_size()] { // the drafter's, too
            return tree_bridge(identity_map(n, n), shared_context(n, capacity), shape);
        };
        const auto tli = [&] { return tree_bridge(tli_map(draft_->map), context(), shape); };
        const auto slem = [&] {
            return slem_tree_bridge(words_, draft_->side.tokenizer, draft_->map, capacity, shape);
        };
        switch (how) {
        case rule::identity:
            return trees(identity(), recursive_rejection{}, own_coin());
        case rule::tli:
            return trees(tli(), recursive_rejection{}, own_coin());
        case rule::identity_block:
            return trees(identity(), traversal_verification{}, own_coin());
        case rule::tli_block:
            return trees(tli(), traversal_verification{}, own_coin());
        case rule::tli_exact:
            return trees(tli(), tree_exact_match{}, own_coin());
        case rule::slem:
            return trees(slem(), tree_exact_match{}, own_coin());
        case rule::coupled:
            return trees(tli(), coupled_tree_match(tables_.keys()), shared_coin());
        case rule::coupled_slem:
            return trees(slem(), coupled_tree_match(tables_.keys()), shared_coin());
        case rule::autoregressive:
        case rule::union_of_both:
        case rule::nested:
        case rule::nested_block:
        case rule::slrs:
        case rule::merge:
        case rule::merge_paper:
        case rule::coupled_spelling:
        case rule::lookup:
        case rule::recycling: // makes its own trees
            break;
        }
        fail("tree", std::string(about(how).name), "expected " + rule_names(can_draft_trees));
    }

    [[nodiscard]] philox_coin own_coin() const {
        return philox_coin(settings_->seed, request_->sequence);
    }
    [[nodiscard]] coupled_coin shared_coin() const {
        return coupled_coin(tables_.keys(), settings_->seed, request_->sequence);
    }
    [[nodiscard]] any_ngram_cache& ngrams() { return ngrams_of(*settings_, *parts_, tables_); }
    [[nodiscard]] std::unique_ptr<speculative_text> recycled(successor_table& table) {
        if (!parts_->tree)
            return alone(recycled_bridge(table, lookup_.max_draft, lookup_.length));
        recycled_tree_bridge trees(table, parts_->tree->settings());
        if (settings_->shared_noise)
            return alone(std::move(trees), coupled_tree_match(tables_.keys()), shared_coin());
        return alone(std::move(trees), tree_exact_match{}, own_coin());
    }
    [[nodiscard]] std::optional<default_lookup_setup> beside() {
        return lookup_setup_of(*settings_, *parts_, tables_);
    }
    template <class Bridge>
    [[nodiscard]] auto chains(Bridge bridge) {
        return lookup_or_chains(std::move(bridge), beside(), parts_->own_proposals);
    }
    /// Without a drafter: the text of a seed is the target's own.
    template <class Bridge>
    [[nodiscard]] std::unique_ptr<speculative_text> alone(Bridge bridge) {
        if (settings_->shared_noise)
            return alone(std::move(bridge), coupled_match(tables_.keys()), shared_coin());
        return alone(std::move(bridge), exact_match{}, own_coin());
    }
    template <class Bridge, class Verifier, class C>
    [[nodiscard]] std::unique_ptr<speculative_text> alone(Bridge bridge, Verifier verifier,
                                                          C coin) {
        return std::make_unique<running_sequence<Bridge, Verifier, no_lease, C>>(
            *request_, std::move(*parts_), std::move(bridge), std::move(verifier), std::move(coin));
    }
    template <class Bridge, class Verifier, class C>
    [[nodiscard]] std::unique_ptr<speculative_text> make(Bridge bridge, Verifier verifier, C coin) {
        const std::size_t tokens = 2 * parts_->settings.capacity; // of the drafter's context
        window_settings window;
        if (parts_->tree && parts_->tree->settings().drafted() > window.room)
            window.room = parts_->tree->settings().drafted();
        return std::make_unique<running_sequence<Bridge, Verifier, sequence_lease, C>>(
            *request_, std::move(*parts_), std::move(bridge), std::move(verifier), std::move(coin),
            draft_->rows, draft_->seats, draft_->sequence, request_->process_draft, tokens, window);
    }
    template <class Bridge, class Verifier>
    [[nodiscard]] std::unique_ptr<speculative_text> with(Bridge bridge, Verifier verifier) {
        return make(chains(std::move(bridge)), verifier, own_coin());
    }
    template <class Bridge, class Verifier, class C>
    [[nodiscard]] std::unique_ptr<speculative_text> trees(Bridge bridge, Verifier verifier,
                                                          C coin) {
        return make(lookup_or_trees(std::move(bridge), beside()), std::move(verifier), coin);
    }
    template <class Bridge>
    [[nodiscard]] std::unique_ptr<speculative_text> coupled(Bridge bridge) {
        return make(chains(std::move(bridge)), coupled_match(tables_.keys()), shared_coin());
    }

    const any_tokenizer<target_id>& words_;
    const drafting_side* draft_;
    shared_tables& tables_;
    lookup_limits lookup_;
    const text_request* request_ = nullptr;
    const decode_settings* settings_ = nullptr;
    sequence_spec* parts_ = nullptr;
};

/// What sequence_opener makes: all rules are compiled with it, wherever it is called. In a program
/// of many files one may define SPECDEC_COMPILE_RULES before the facade's header, and the others
/// SPECDEC_RULES_COMPILED: then they are compiled there only.
template <std::same_as<rule> Rule>
[[nodiscard]] std::unique_ptr<speculative_text>
open_sequence(Rule how, const any_tokenizer<target_id>& words, const drafting_side* draft,
              shared_tables& tables, lookup_limits lookup, const text_request& request,
              const decode_settings& s, sequence_spec parts) {
    return sequence_opener(words, draft, tables, std::move(lookup))(how, request, s,
                                                                    std::move(parts));
}
#if defined(SPECDEC_COMPILE_RULES)
template std::unique_ptr<speculative_text> open_sequence(rule, const any_tokenizer<target_id>&,
                                                         const drafting_side*, shared_tables&,
                                                         lookup_limits, const text_request&,
                                                         const decode_settings&, sequence_spec);
#elif defined(SPECDEC_RULES_COMPILED)
extern template std::unique_ptr<speculative_text>
open_sequence(rule, const any_tokenizer<target_id>&, const drafting_side*, shared_tables&,
              lookup_limits, const text_request&, const decode_settings&, sequence_spec);
#endif

} // namespace specdec
