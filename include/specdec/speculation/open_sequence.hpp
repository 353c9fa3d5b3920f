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
#include <specdec/draft/lookup/lookup_memory.hpp>
#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/source/any_source.hpp>
#include <specdec/source/lookup_source.hpp>
#include <specdec/source/recycled_source.hpp>
#include <specdec/source/recycled_tree_source.hpp>
#include <specdec/speculation/any/any_verifier.hpp>
#include <specdec/speculation/default_lookup_setup.hpp>
#include <specdec/speculation/drafting_settings.hpp>
#include <specdec/speculation/grammar_request.hpp>
#include <specdec/speculation/running_sequence.hpp>
#include <specdec/speculation/sequence_plan.hpp>
#include <specdec/speculation/sequence_pool.hpp>
#include <specdec/speculation/shared_tables.hpp>
#include <specdec/speculation/side.hpp>
#include <specdec/speculation/tree/any_tree_source.hpp>

namespace specdec {

/// Opens a sequence as it is planned: its rule says which source and which verifier it has. draft:
/// null without a drafter, for rules that take none.
class sequence_opener {
    using coin_type = coupled_coin;
    using chain_type = any_source<coin_type>;
    using tree_type = any_tree_source<coin_type>;

public:
    sequence_opener(const drafting_side* draft, shared_tables& tables, const text_request& request,
                    sequence_plan plan)
        : draft_(draft), tables_(tables), request_(request), plan_(std::move(plan)) {}

    [[nodiscard]] std::unique_ptr<speculative_text> operator()() {
        if (source_of(plan_.how.rule).takes_drafter) {
            window_settings window = window_of(draft_->rows);
            if (plan_.tree && plan_.tree->settings().drafted() > window.room)
                window.room = plan_.tree->settings().drafted();
            lease_ = std::make_unique<sequence_lease>(draft_->rows, draft_->seats, draft_->sequence,
                                                      request_.process_draft,
                                                      2 * plan_.settings.capacity, window);
        }
        if (plan_.tree)
            return run(lookup_or_trees(trees(), plan_.beside), tree_verifier());
        return run(lookup_or_chains(chains(), plan_.beside, plan_.own_proposals), verifier());
    }

private:
    [[nodiscard]] chain_type chains() {
        const std::size_t capacity = plan_.settings.capacity, most = plan_.length;
        const pushforward_limits limits{plan_.longest, plan_.min_draft_probability};
        switch (plan_.how.source) {
        case rule_source::none:
            return chain_type(no_bridge{});
        case rule_source::lookup:
            return chain_type(lookup_source(
                text_lookup(make_default_lookup(capacity, lookup_hit_bytes(plan_.lookup.max_draft),
                                                plan_.memory),
                            forced_text_of(request_, words())),
                words(), plan_.lookup));
        case rule_source::recycling:
            return chain_type(
                recycled_source(*plan_.successors, plan_.lookup.max_draft, plan_.lookup.length));
        case rule_source::identity:
            return asking(make_identity_bridge(pieces().vocabulary_size(),
                                               words().vocabulary_size(), capacity, most));
        case rule_source::union_of_both:
            return asking(token_bridge(union_map(map()), context(), most));
        case rule_source::tli:
            return asking(token_bridge(tli_map(map()), context(), most));
        case rule_source::nested:
            return asking(
                nested_tli_bridge(tables_.pieces(), context(), most, plan_.own_proposals));
        case rule_source::slem:
            return asking(slem_bridge(words(), pieces(), map(), capacity, most));
        case rule_source::spelling:
            return asking(
                spelling_bridge(tables_.spellings(), context(), 2 * capacity, {.max_draft = most}));
        case rule_source::slrs:
            return asking(make_slrs_bridge(words(), pieces(), map(), tables_.order(),
                                           tables_.edges(), capacity, limits));
        case rule_source::merge:
            return asking(make_ngram_merge_bridge(*plan_.ngrams, words(), pieces(), map(),
                                                  tables_.order(), capacity, limits));
        case rule_source::merge_paper:
            return asking(lossy::paper_merge_bridge(
                merging(*plan_.ngrams, words(), pieces(), map(), tables_.order()), map(), context(),
                most));
        }
        fail("rule", std::string(plan_.how.name), "expected a source of proposals");
    }
    [[nodiscard]] tree_type trees() {
        const tree_settings& shape = plan_.tree->settings();
        const std::size_t capacity = plan_.settings.capacity, n = words().vocabulary_size();
        switch (plan_.how.source) {
        case rule_source::recycling:
            return tree_type(recycled_tree_source(*plan_.successors, shape));
        case rule_source::identity: // n is the drafter's, too
            return branching(tree_bridge(identity_map(n, n), shared_context(n, capacity), shape));
        case rule_source::tli:
            return branching(tree_bridge(tli_map(map()), context(), shape));
        case rule_source::slem:
            return branching(slem_tree_bridge(words(), pieces(), map(), capacity, shape));
        case rule_source::none:
        case rule_source::union_of_both:
        case rule_source::nested:
        case rule_source::spelling:
        case rule_source::slrs:
        case rule_source::merge:
        case rule_source::merge_paper:
        case rule_source::lookup:
            break;
        }
        fail("tree", std::string(plan_.how.name), "expected " + rule_names(can_draft_trees));
    }
    /// Draws that are coupled without a drafter are the target's own.
    [[nodiscard]] rule_verifier how_verified() const {
        return plan_.couples ? rule_verifier::coupled : plan_.how.verifier;
    }
    [[nodiscard]] any_verifier verifier() {
        switch (how_verified()) {
        case rule_verifier::exact_match:
            return exact_match{};
        case rule_verifier::token_rejection:
            return token_rejection{};
        case rule_verifier::block:
            return block_verification{};
        case rule_verifier::coupled:
            return coupled_match(tables_.keys());
        }
        fail("rule", std::string(plan_.how.name), "expected a verifier");
    }
    [[nodiscard]] any_tree_verifier tree_verifier() {
        switch (how_verified()) {
        case rule_verifier::exact_match:
            return tree_exact_match{};
        case rule_verifier::token_rejection:
            return recursive_rejection{};
        case rule_verifier::block:
            return traversal_verification{};
        case rule_verifier::coupled:
            return coupled_tree_match(tables_.keys());
        }
        fail("rule", std::string(plan_.how.name), "expected a verifier");
    }

    [[nodiscard]] const any_tokenizer<target_id>& words() const { return plan_.target; }
    [[nodiscard]] const any_tokenizer<draft_id>& pieces() const { return draft_->side.tokenizer; }
    [[nodiscard]] const id_map& map() const { return draft_->map; }
    using context_type = retokenised_context<any_tokenizer<target_id>, any_tokenizer<draft_id>>;
    [[nodiscard]] context_type context() const {
        return {words(), pieces(), map(), plan_.settings.capacity};
    }
    /// Of a bridge that asks the text's drafter.
    template <class Bridge>
    [[nodiscard]] chain_type asking(Bridge bridge) {
        return chain_type(std::move(bridge), lease_->drafter());
    }
    template <class Bridge>
    [[nodiscard]] tree_type branching(Bridge bridge) {
        return tree_type(std::move(bridge), lease_->drafter());
    }
    template <class Source, class Verifier>
    [[nodiscard]] std::unique_ptr<speculative_text> run(Source source, Verifier verifier) {
        plan_.beside.reset(); // it views the request
        const coin_type coin = plan_.couples
                                   ? coin_type(tables_.keys(), plan_.seed, request_.sequence)
                                   : coin_type(plan_.seed, request_.sequence);
        return std::make_unique<running_sequence<Source, Verifier, coin_type>>(
            request_, std::move(plan_), std::move(lease_), std::move(source), std::move(verifier),
            coin);
    }

    const drafting_side* draft_;
    shared_tables& tables_;
    const text_request& request_;
    sequence_plan plan_;
    std::unique_ptr<sequence_lease> lease_{}; // of a rule that takes a drafter
};

/// Opens a sequence as it is planned. All rules are compiled with it, wherever it is called. In a
/// program of many files one may define SPECDEC_COMPILE_RULES before the facade's header, and the
/// others SPECDEC_RULES_COMPILED: then they are compiled there only.
template <std::same_as<sequence_plan> Plan> // so that naming it does not compile them
[[nodiscard]] std::unique_ptr<speculative_text> open_sequence(Plan plan, const drafting_side* draft,
                                                              shared_tables& tables,
                                                              const text_request& request) {
    return sequence_opener(draft, tables, request, std::move(plan))();
}
#if defined(SPECDEC_COMPILE_RULES)
template std::unique_ptr<speculative_text> open_sequence(sequence_plan, const drafting_side*,
                                                         shared_tables&, const text_request&);
#elif defined(SPECDEC_RULES_COMPILED)
extern template std::unique_ptr<speculative_text>
open_sequence(sequence_plan, const drafting_side*, shared_tables&, const text_request&);
#endif

} // namespace specdec
