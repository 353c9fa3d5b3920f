// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <specdec/decode/end_ids.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/draft/counted/successor_table.hpp>
#include <specdec/draft/lookup/lookup_memory.hpp>
#include <specdec/source/lookup_source.hpp>
#include <specdec/speculation/any/any_ngram_cache.hpp>
#include <specdec/speculation/any/any_tokenizer.hpp>
#include <specdec/speculation/any/cancel_check.hpp>
#include <specdec/speculation/default_lookup_setup.hpp>
#include <specdec/speculation/drafting_settings.hpp>
#include <specdec/speculation/length_settings.hpp>
#include <specdec/speculation/rule.hpp>
#include <specdec/speculation/shared_tables.hpp>
#include <specdec/speculation/text.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

namespace specdec {

/// All that is decided about a sequence before it is made: what its request and the settings say,
/// under its rule. Nothing after it looks at settings.
struct sequence_plan {
    const any_tokenizer<target_id>& target;
    const any_tokenizer<draft_id>* draft = nullptr; ///< null without a drafter
    named_rule how = rules[0];                      ///< source and verifier
    session_settings settings{};
    std::span<const draft_id> draft_prefix{};
    generation_limits limits{};
    std::optional<length_settings> lengths{};   ///< nothing: no drafts
    std::size_t length = 0;                     ///< of a draft, as the settings say it
    std::size_t longest = 0;                    ///< draft tokens a round
    std::size_t own_proposals = 0;              ///< of the source; settings.max_proposals has room
                                                ///< for what is looked up beside it, too
    std::shared_ptr<learned_lengths> learned{}; ///< by all texts of the rule, or by this one
    std::optional<any_tree_shape> tree{};       ///< of drafts that are trees
    double min_draft_probability = 0;           ///< slrs, merge
    std::uint64_t seed = 0;
    bool couples = false; ///< draws are coupled by shared noise
    cancel_check cancelled{};
    bool drafter_must_work = false;
    std::shared_ptr<open_texts> under_way{}; ///< for the decoder, as long as the text is there
    // What it reads and teaches. The first of a pair keeps alive what the other one is.
    std::optional<default_lookup_setup> beside{}; ///< looked up beside its drafter
    lookup_limits lookup{};                       ///< of sources without a drafter
    std::shared_ptr<lookup_memory> own_memory{};
    lookup_memory* memory = nullptr;
    std::unique_ptr<any_ngram_cache> own_ngrams{};
    any_ngram_cache* ngrams = nullptr;
    std::shared_ptr<successor_table> successors{};
};

/// Gives a plan its memories: the shared ones, or some of its own.
inline void take_memories(sequence_plan& plan, const decode_settings& s, shared_tables& tables) {
    const source_facts& source = source_of(plan.how.rule);
    const bool looks_up =
        plan.how.source == rule_source::lookup || (source.takes_drafter && s.lookup.beside);
    const bool shared = s.lookup.shared && s.carry.lookups;
    if (looks_up && shared) {
        if (s.lookup.memory == nullptr)
            plan.own_memory = tables.lookups();
        plan.memory = s.lookup.memory != nullptr ? s.lookup.memory : plan.own_memory.get();
    }
    if (plan.how.source == rule_source::recycling)
        plan.successors = shared ? tables.successors() : tables.new_successors();
    if (source.uses_cache) {
        if (!s.carry.ngrams)
            plan.own_ngrams = tables.new_ngrams();
        plan.ngrams = s.carry.ngrams ? &tables.ngrams() : plan.own_ngrams.get();
    }
}

/// The plan of a sequence for this request, which it views, of a target with this tokenizer,
/// capacity and end tokens. `learned`: what such sequences have taught about lengths. Its draft,
/// draft_prefix and the drafter's end tokens are left to be filled in.
[[nodiscard]] inline sequence_plan
plan_sequence(const text_request& request, const decode_settings& s, rule how,
              const any_tokenizer<target_id>& words, std::size_t capacity,
              std::span<const target_id> ends, std::shared_ptr<learned_lengths> learned,
              shared_tables& tables) {
    const source_facts& source = source_of(how);
    session_settings settings; // whole before its plan is: GCC 12 warns of parts of it
    settings.target = settings.draft = s.sampling;
    settings.capacity = capacity;
    // By target tokens: a draft that ends by itself would cost a residual.
    if (source.by_target_tokens || s.lengths.length > settings.max_proposals)
        settings.max_proposals = s.lengths.length;
    settings.end_ids = end_ids_of(words.table(), ends, s.limits);
    settings.log_probabilities = likeliest_of(s, words.vocabulary_size());

    sequence_plan plan{.target = words, .how = about(how), .settings = std::move(settings)};
    plan.limits = s.limits;
    if (plan.how.source != rule_source::none)
        plan.lengths = s.lengths;
    plan.length = s.lengths.length;
    plan.longest = draft_tokens(how, s.lengths.length);
    plan.min_draft_probability = s.min_draft_probability;
    plan.seed = s.seed;
    plan.couples =
        is_coupled(how) || (!source.takes_drafter && s.shared_noise); // the target's own draws
    plan.cancelled = s.cancelled;
    plan.drafter_must_work = s.drafter_must_work;
    if (s.tree)
        plan.tree = tree_of(*s.tree, s.sampling.temperature, *learned);
    plan.learned = std::move(learned);
    take_memories(plan, s, tables);
    if (!source.takes_drafter && plan.how.source != rule_source::none) {
        plan.lookup = lookup_of(s.lengths, *plan.learned);
        if (!plan.tree) {
            plan.settings.max_proposals = plan.lookup.max_draft;
            if (plan.lookup.length) { // which chooses it: no stop rule is asked
                plan.lengths = length_settings{.kind = length_kind::fixed};
                plan.longest = plan.lookup.max_draft;
            }
        }
    }
    plan.own_proposals = plan.settings.max_proposals;
    if (source.takes_drafter && (s.lookup.beside || request.grammar.active())) {
        const std::size_t most = longest_lookup(s.lengths);
        if (most > plan.settings.max_proposals)
            plan.settings.max_proposals = most;
        plan.beside.emplace(default_lookup_setup{.words = plan.target,
                                                 .request = request,
                                                 .looks_up = s.lookup.beside,
                                                 .capacity = plan.settings.capacity,
                                                 .most = most,
                                                 .memory = plan.memory,
                                                 .table = plan.learned->found,
                                                 .lookup_costs = plan.learned->costs.of_found(),
                                                 .costs = plan.learned->costs.now(),
                                                 .ahead = plan.learned->ahead});
    }
    return plan;
}

} // namespace specdec
