// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/distillation_sample.hpp>
#include <specdec/learn/loss/distillation_loss.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec_engine/learn/learner_settings.hpp>
#include <specdec_engine/learn/learnt_weights.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>
#include <specdec_engine/learn/reverse/training_pass.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

/// Trains a drafter on texts of its target. An update is
///
///     texts -> training_pass::forward -> distillation_loss -> learnt_weights' step
///
/// of all weights, or of LoRA's adapters alone. The gradient is that of the sum of the losses,
/// divided by the number of rows of the batch. The result depends on texts and settings alone, not
/// on threads. Memory: a pass and two rows of logits a token, allocated in the constructor; its
/// products grow in the first updates. Borrows the map.
class drafter_learner : public learnt_weights<model_parameters<float>> {
public:
    using sample = distillation_sample; ///< what it learns from
    /// Errors: specdec::error for a map of another vocabulary, and as check(settings) and lora.
    drafter_learner(model_parameters<float> start, const id_map& map,
                    const learner_settings& settings = {})
        : learnt_weights(checked(settings, start, map), std::move(start), map.target_size()),
          team_(std::make_shared<thread_pool>(settings.threads)),
          pass_(base().config(),
                {settings.sequences, settings.length, settings.sequences * settings.length}, team_,
                settings.products),
          ids_(settings.sequences), rows_(settings.sequences), first_row_(settings.sequences),
          sums_(settings.sequences) {
        for (std::size_t i = 0; i < team_->size(); ++i)
            members_.push_back(
                {distillation_loss(map, settings.loss),
                 std::vector<float>(settings.length * base().config().vocabulary_size)});
    }

    /// One update by these texts. Texts without rows teach nothing. Complexity: 6 P for each token
    /// and P weights, 4 P where adapters learn, and the losses. Errors: specdec::error for more
    /// texts than the settings allow, and as require(): nothing has changed then.
    update_result learn(std::span<const distillation_sample* const> texts) {
        update_result result = forward_and_losses(texts);
        if (result.losses.rows + result.losses.merges > 0)
            step(result, [&](std::span<float> weights, std::span<float> adapters) {
                pass_.reverse(constant(*logits_), weights, adapters);
            });
        return result;
    }

    /// The losses alone. Errors: as learn().
    [[nodiscard]] distillation_losses measure(std::span<const distillation_sample* const> texts) {
        return forward_and_losses(texts).losses;
    }

    /// The drafter's logits after these places of a text, by the weights as they are. They stay
    /// until the next call. Errors: specdec::error as training_batch::assign.
    [[nodiscard]] logits_rows<draft_id> rows(std::span<const draft_id> tokens,
                                             std::span<const std::size_t> behind) {
        ids_[0].clear();
        for (const draft_id d : tokens)
            ids_[0].push_back(d.value);
        sequences_.assign(1, {ids_[0], behind});
        logits_.emplace(pass_.forward(base(), sequences_, adapters_if_any()));
        const auto vocabulary = static_cast<std::size_t>(logits_->rows());
        return {logits_->data(), behind.size(), vocabulary, vocabulary};
    }

private:
    struct member {
        distillation_loss loss;
        std::vector<float> gradients; ///< [length, |D|]
    };

    static const learner_settings& checked(const learner_settings& s,
                                           const model_parameters<float>& m, const id_map& map) {
        check(s);
        if (m.config().vocabulary_size != map.draft_size())
            throw error("drafter learner", "map",
                        "expected a map of the model's " +
                            std::to_string(m.config().vocabulary_size) + " tokens, found " +
                            std::to_string(map.draft_size()));
        return s;
    }

    /// The rows of logits have then become their gradients. A text is one thread's.
    update_result forward_and_losses(std::span<const distillation_sample* const> texts) {
        update_result result = choose(texts);
        if (taught_.empty())
            return result;
        logits_.emplace(pass_.forward(base(), sequences_, adapters_if_any()));
        const double weight = 1 / static_cast<double>(logits_->cols());
        const auto vocabulary = static_cast<std::size_t>(logits_->rows());
        team_->run(taught_.size(), 1, [&](pool_share s) {
            member& own = members_[s.member];
            for (std::size_t i = s.begin; i < s.end; ++i) {
                float* const rows = logits_->data() + first_row_[i] * vocabulary;
                const std::span<float> gradients(own.gradients.data(),
                                                 rows_[i].size() * vocabulary);
                sums_[i] =
                    own.loss(*taught_[i], rows_[i], {rows, rows_[i].size(), vocabulary, vocabulary},
                             gradients, weight);
                std::copy(gradients.begin(), gradients.end(), rows);
            }
        });
        for (std::size_t i = 0; i < taught_.size(); ++i)
            result.losses += sums_[i];
        return result;
    }

    /// The texts that teach, as sequences and the rows that their losses read.
    update_result choose(std::span<const distillation_sample* const> texts) {
        update_result result;
        sequences_.clear();
        taught_.clear();
        std::size_t first = 0;
        for (const distillation_sample* text : texts) {
            if (text->rows.empty() && text->merges.empty())
                continue;
            const std::size_t i = taught_.size();
            if (i == rows_.size())
                throw error("drafter learner", "texts",
                            "expected at most " + std::to_string(rows_.size()));
            require(*text, "drafter learner");
            members_.front().loss.rows_of(*text, rows_[i]);
            ids_[i].clear();
            for (const draft_id d : text->tokens)
                ids_[i].push_back(d.value);
            sequences_.push_back({ids_[i], rows_[i]});
            taught_.push_back(text);
            first_row_[i] = first;
            first += rows_[i].size();
            result.tokens += text->tokens.size();
        }
        return result;
    }

    std::shared_ptr<thread_pool> team_;
    training_pass<float> pass_;
    std::vector<member> members_; ///< [threads]
    // Of the latest pass, by text:
    std::vector<const distillation_sample*> taught_;
    std::vector<std::vector<std::int32_t>> ids_;
    std::vector<std::vector<std::size_t>> rows_;
    std::vector<training_sequence> sequences_;
    std::vector<std::size_t> first_row_;
    std::vector<distillation_losses> sums_;
    std::optional<columns<float>> logits_;
};

} // namespace specdec::engine
