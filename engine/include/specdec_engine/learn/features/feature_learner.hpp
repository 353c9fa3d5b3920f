// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/learn/feature_sample.hpp>
#include <specdec/learn/loss/distillation_loss.hpp>
#include <specdec_engine/learn/features/feature_training_pass.hpp>
#include <specdec_engine/learn/features/target_ends.hpp>
#include <specdec_engine/learn/features/taught_chains.hpp>
#include <specdec_engine/learn/learner_settings.hpp>
#include <specdec_engine/learn/learnt_weights.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

/// Trains a drafter's body that reads features, on what its target's rounds have shown. An update
/// is
///
///     drafts -> feature_training_pass -> the target's head -> loss -> learnt_weights' step
///
/// of the body, or of LoRA's adapters on its block alone. Head and embedding are the target's and
/// stay. The gradient is that of the sum of the losses, divided by their number. The result depends
/// on samples and settings alone, not on threads. Losses: the direct ones. Memory: a pass, and two
/// rows of logits for each of `at_once` cells, allocated in the constructor; its products
/// grow in the first updates.
class feature_learner : public learnt_weights<feature_parameters<float>> {
public:
    using sample = feature_sample; ///< what it learns from

    /// Errors: specdec::error for ends of another width or with other rows, and as check(settings)
    /// and lora.
    feature_learner(feature_parameters<float> start, target_ends ends,
                    const learner_settings& settings = {}, const chain_settings& chains = {})
        : learnt_weights(checked(settings, start, ends), std::move(start), ends.map.target_size()),
          ends_(std::move(ends)), team_(std::make_shared<thread_pool>(settings.threads)),
          products_(team_, settings.products), chains_(chains, settings.sequences, settings.length),
          pass_(base().layout(), chains_.limits(), ends_.embedding, team_, settings.products),
          logits_(ends_.rows(), at_once), dlogits_(ends_.rows(), at_once),
          dstates_(ends_.dimension, chains_.limits().cells), losses_(at_once) {
        for (std::size_t i = 0; i < team_->size(); ++i)
            members_.emplace_back(ends_.map, settings.loss);
    }
    feature_learner(const feature_learner&) = delete; // losses view the map
    feature_learner& operator=(const feature_learner&) = delete;

    /// One update by these samples. Those without rounds teach nothing. Complexity: 6 P a cell and
    /// P weights, and 4 products of the head's rows. Errors: specdec::error for more samples than
    /// the settings allow, and as require(): nothing has changed then.
    update_result learn(std::span<const feature_sample* const> samples) {
        update_result result = forward_and_losses(samples, true);
        if (result.losses.rows > 0)
            step(result, [&](std::span<float> weights, std::span<float> adapters) {
                pass_.reverse(constant(dstates_.first(pass_.batch().cells().size())), weights,
                              adapters);
            });
        return result;
    }

    /// The losses alone. Errors: as learn().
    [[nodiscard]] distillation_losses measure(std::span<const feature_sample* const> samples) {
        return forward_and_losses(samples, false).losses;
    }

private:
    /// Cells whose logits are made together: the head is packed anew for each lot of them.
    static constexpr std::size_t at_once = 256;

    static const learner_settings& checked(const learner_settings& s,
                                           const feature_parameters<float>& m,
                                           const target_ends& ends) {
        check(s);
        if (m.config().dimension != ends.dimension ||
            m.config().vocabulary_size < ends.map.target_size())
            throw error("feature learner", "target",
                        "expected a target of the body's width and vocabulary");
        if (ends.head.size() != ends.rows() * ends.dimension || !ends.embedding)
            throw error("feature learner", "target",
                        "expected an embedding, and a row of the head for each token of its map");
        return s;
    }

    update_result forward_and_losses(std::span<const feature_sample* const> samples,
                                     bool gradients) {
        update_result result;
        for (const feature_sample* s : samples)
            require(*s, "feature learner");
        chains_.choose(samples);
        result.tokens = chains_.cells().size();
        if (result.tokens == 0)
            return result;
        const auto states = pass_.forward(base(), chains_.sequences(), adapters_if_any());
        const double weight = 1 / static_cast<double>(result.tokens);
        const auto head =
            columns_of(std::as_const(ends_.head).data(), ends_.dimension, ends_.rows());
        for (std::size_t first = 0; first < result.tokens; first += at_once) {
            const std::size_t n = std::min(at_once, result.tokens - first);
            products_.forward(head, some_columns(states, first, n), logits_.first(n));
            take_losses(first, n, weight);
            for (std::size_t i = 0; i < n; ++i)
                result.losses += {.direct = losses_[i], .rows = 1};
            if (gradients)
                products_.backward(head, constant(dlogits_.first(n)),
                                   some_columns(dstates_.first(first + n), first, n));
        }
        return result;
    }

    void take_losses(std::size_t first, std::size_t n, double weight) {
        team_->run(n, 1, [&](pool_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i) {
                const taught_cell& c = chains_.cells()[first + i];
                const draft_id next =
                    c.next.valid() ? ends_.map.to_draft(target_id{c.next.value}) : draft_id{};
                losses_[i] = members_[s.member].of_row(
                    c.law, next,
                    logits_row<draft_id>{
                        {logits_.first(i + 1).col(index_of(i)).data(), ends_.rows()}},
                    {dlogits_.first(i + 1).col(index_of(i)).data(), ends_.rows()}, weight);
            }
        });
    }

    target_ends ends_;
    std::shared_ptr<thread_pool> team_;
    products products_;
    taught_chains chains_;
    feature_training_pass<float> pass_;
    std::vector<distillation_loss> members_;    ///< [threads]
    activation_memory<float> logits_, dlogits_; ///< [rows of the head, at_once]
    activation_memory<float> dstates_;          ///< [dimension, cells]
    std::vector<double> losses_;                ///< [at_once]
};

} // namespace specdec::engine
