// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <openvino/openvino.hpp>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/interop/openvino_model.hpp>

namespace specdec {

/// Several sequences of a stateful language model in OpenVINO, as a BatchModelOf<Id>: an inference
/// request for each, so a score is an inference for each part. (One inference for all would pad
/// them to one length and keep every sequence's masked tokens for all.) What openvino_model says of
/// requests, states and errors holds for each sequence. The logits of a score of one part are
/// OpenVINO's output tensor; of several parts, OpenVINO writes them to one buffer. If a part
/// throws, all sequences are as before.
template <class Id>
class openvino_batch_model {
public:
    openvino_batch_model(const ov::CompiledModel& model, std::size_t sequences,
                         const openvino_settings& settings = {}) {
        require_that(sequences > 0, "OpenVINO model", "sequences", "expected at least one");
        models_.reserve(sequences);
        for (std::size_t s = 0; s < sequences; ++s)
            models_.emplace_back(model, settings);
    }

    [[nodiscard]] std::size_t sequences() const { return models_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return models_[s].size(); }
    [[nodiscard]] held_tokens<Id> held(std::size_t s) const { return models_[s].held(); }
    [[nodiscard]] std::size_t capacity() const { return models_[0].capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return models_[0].vocabulary_size(); }

    void append(std::size_t s, std::span<const Id> ids) {
        models_[s].append(ids);
        latest_ = s;
    }
    void truncate(std::size_t s, std::size_t n) { models_[s].truncate(n); }

    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        if (parts.size() == 1) {
            latest_ = parts[0].sequence;
            return models_[latest_].score(parts[0].ids);
        }
        const std::size_t n = count_tokens(parts), length = models_[0].stride();
        if (rows_.size() < n * length)
            rows_.resize(n * length);
        latest_ = several;
        features_.clear();
        std::size_t done = 0;
        on_throw guard([&] {
            for (std::size_t i = 0; i < done; ++i)
                truncate(parts[i].sequence, size(parts[i].sequence) - parts[i].ids.size());
        });
        for (float* to = rows_.data(); const auto& [s, ids] : parts) {
            models_[s].score_into(ids, to);
            to += ids.size() * length;
            const hidden_states shown = models_[s].features();
            for (std::size_t i = 0; i < shown.size(); ++i)
                features_.insert(features_.end(), shown[i].values.begin(), shown[i].values.end());
            ++done;
        }
        guard.done();
        return {rows_.data(), n, vocabulary_size(), length};
    }

    /// Numbers of a token's feature: 0 for a model without openvino_show_features().
    [[nodiscard]] std::size_t feature_width() const { return models_[0].feature_width(); }
    /// The features after the tokens of the latest append or score: of one part OpenVINO's output
    /// tensor, of several parts copies.
    [[nodiscard]] hidden_states features() {
        if (latest_ != several)
            return models_[latest_].features();
        const std::size_t width = feature_width();
        return {features_.data(), width > 0 ? features_.size() / width : 0, width, width};
    }

    [[nodiscard]] std::size_t compactions() const {
        std::size_t n = 0;
        for (const openvino_model<Id>& m : models_)
            n += m.compactions();
        return n;
    }

private:
    static constexpr std::size_t several = static_cast<std::size_t>(-1);

    std::vector<openvino_model<Id>> models_; ///< [sequences]
    std::vector<float> rows_;                ///< [rows][vocabulary] of several parts
    std::vector<float> features_;            ///< [tokens][width] of several parts
    std::size_t latest_ = 0;                 ///< whose pass was the latest, or `several`
};

} // namespace specdec
