// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy, std::fill
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/learn/distillation_sample.hpp>
#include <specdec/learn/loss/distillation_loss.hpp>
#include <specdec/reference/kernel/thread_team.hpp>
#include <specdec/reference/learn/adamw.hpp>
#include <specdec/reference/learn/clip_gradient.hpp>
#include <specdec/reference/learn/reverse/lora.hpp>
#include <specdec/reference/learn/reverse/model_parameters.hpp>
#include <specdec/reference/learn/reverse/training_pass.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec::reference {

/// How a drafter learns. OmniDraft's Table 10 has a constant rate of 1e-4 or 2e-5, 8 sequences and
/// LoRA of rank 32, for drafters of 68 M parameters and more.
struct learner_settings {
    distillation_loss_settings loss{};
    std::optional<lora_settings> adapters{}; ///< then only they learn
    double rate = 5e-4;                      ///< AdamW's, constant
    double clip = 1;                         ///< longest gradient
    adamw_settings optimiser{};
    std::size_t sequences = 8; ///< most texts of an update
    std::size_t length = 256;  ///< most tokens of a text
    std::size_t threads = 1;   ///< 0: one a core; results do not depend on it
    unsigned seed = 1;         ///< of the adapters' first values
};

/// Throws specdec::error naming the setting that is none.
inline void check(const learner_settings& s) {
    const auto positive = [](double x, const char* field) {
        if (!(x > 0 && x < std::numeric_limits<double>::infinity()))
            throw error("drafter learner", field, "expected a positive number");
    };
    validate(s.loss);
    check(s.optimiser);
    positive(s.rate, "rate");
    positive(s.clip, "clip");
    if (s.sequences == 0 || s.length == 0)
        throw error("drafter learner", "batch", "expected sequences and a length of at least 1");
}

/// The result of an update.
struct update_result {
    distillation_losses losses; ///< before it
    std::size_t tokens = 0;     ///< of the texts
    double gradient_norm = 0;   ///< before clipping
    bool applied = false;       ///< false: the gradient was not finite, or there was none
};

/// Trains a drafter on texts of its target. An update is
///
///     texts -> training_pass::forward -> distillation_loss -> reverse -> clip -> AdamW
///
/// of all weights, or of LoRA's adapters alone. The gradient is that of the sum of the losses,
/// divided by the number of rows of the batch. The result depends on texts and settings alone, not
/// on threads. Memory: a pass and two rows of logits a token, allocated in the constructor; Eigen's
/// products allocate while they run. Borrows the map.
class drafter_learner {
public:
    using sample = distillation_sample; ///< what it learns from
    /// Errors: specdec::error for a map of another vocabulary, and as check(settings) and lora.
    drafter_learner(model_parameters<float> start, const id_map& map,
                    const learner_settings& settings = {})
        : settings_(checked(settings, start, map)), weights_(std::move(start)),
          team_(std::make_shared<thread_team>(settings.threads)),
          pass_(weights_.config(),
                {settings.sequences, settings.length, settings.sequences * settings.length}, team_),
          optimiser_(0, settings.optimiser), ids_(settings.sequences), rows_(settings.sequences),
          first_row_(settings.sequences), sums_(settings.sequences) {
        if (settings.adapters) {
            adapters_.emplace(weights_.config(), *settings.adapters);
            std::minstd_rand bits(settings.seed);
            adapters_->draw(bits);
            adapted_ = weights_;
        }
        const std::size_t learnt = values().size();
        optimiser_ = adamw<float>(learnt, settings.optimiser);
        gradient_.resize(learnt);
        for (std::size_t i = 0; i < team_->size(); ++i)
            members_.push_back(
                {distillation_loss(map, settings.loss),
                 std::vector<float>(settings.length * weights_.config().vocabulary_size)});
    }

    /// One update by these texts. Texts without rows teach nothing. Complexity: 6 P for each token
    /// and P weights, 4 P where adapters learn, and the losses. Errors: specdec::error for more or
    /// longer texts than the settings allow, ids of other vocabularies: nothing has changed then.
    update_result learn(std::span<const distillation_sample* const> texts) {
        update_result result = forward_and_losses(texts);
        if (result.losses.rows + result.losses.merges == 0)
            return result;
        std::fill(gradient_.begin(), gradient_.end(), 0.0F);
        const std::span<float> all = gradient_;
        pass_.reverse(constant(*logits_), adapters_ ? std::span<float>{} : all,
                      adapters_ ? all : std::span<float>{});
        result.gradient_norm = clip_gradient<float>(gradient_, settings_.clip);
        if (!std::isfinite(result.gradient_norm))
            return result;
        optimiser_.step(layout(), values(), gradient_, settings_.rate);
        result.applied = true;
        return result;
    }

    /// The losses alone. Errors: as learn().
    [[nodiscard]] distillation_losses measure(std::span<const distillation_sample* const> texts) {
        return forward_and_losses(texts).losses;
    }

    /// The weights that a drafter decodes with; adapters, if there are any, are merged into them.
    /// Valid until the next call.
    [[nodiscard]] const model_parameters<float>& weights() {
        if (!adapters_)
            return weights_;
        std::copy(weights_.values().begin(), weights_.values().end(), adapted_->values().begin());
        adapters_->merge(*adapted_);
        return *adapted_;
    }

    // What is saved and read again: numbers that learn, under their names.
    [[nodiscard]] const learner_settings& settings() const { return settings_; }
    [[nodiscard]] const std::optional<lora<float>>& adapters() const { return adapters_; }
    [[nodiscard]] const parameter_layout& layout() const {
        return adapters_ ? adapters_->tensors() : weights_.layout().tensors();
    }
    [[nodiscard]] std::span<float> values() {
        return adapters_ ? adapters_->values() : weights_.values();
    }
    [[nodiscard]] adamw<float>& optimiser() { return optimiser_; }
    /// The latest update's gradient, clipped; of values().
    [[nodiscard]] std::span<const float> gradient() const { return gradient_; }
    void set_rate(double rate) { settings_.rate = rate; }

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
                        "expected one of the model's " +
                            std::to_string(m.config().vocabulary_size) + " tokens, it has " +
                            std::to_string(map.draft_size()));
        return s;
    }

    /// The rows of logits have then become their gradients. A text is one thread's.
    update_result forward_and_losses(std::span<const distillation_sample* const> texts) {
        update_result result = choose(texts);
        if (taught_.empty())
            return result;
        logits_.emplace(pass_.forward(weights_, sequences_, adapters_ ? &*adapters_ : nullptr));
        const double weight = 1 / static_cast<double>(logits_->cols());
        const auto vocabulary = static_cast<std::size_t>(logits_->rows());
        team_->run(taught_.size(), 1, [&](team_share s) {
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

    learner_settings settings_;
    model_parameters<float> weights_; ///< frozen where adapters learn
    std::optional<lora<float>> adapters_;
    std::optional<model_parameters<float>> adapted_; ///< weights_ and adapters_ together
    std::shared_ptr<thread_team> team_;
    training_pass<float> pass_;
    adamw<float> optimiser_;
    aligned_vector<float> gradient_; ///< of values()
    std::vector<member> members_;    ///< [threads]
    // Of the latest pass, by text:
    std::vector<const distillation_sample*> taught_;
    std::vector<std::vector<std::int32_t>> ids_;
    std::vector<std::vector<std::size_t>> rows_;
    std::vector<training_sequence> sequences_;
    std::vector<std::size_t> first_row_;
    std::vector<distillation_losses> sums_;
    std::optional<columns<float>> logits_;
};

} // namespace specdec::reference
