// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec_engine/drafter/feature_body.hpp>
#include <specdec_engine/drafter/feature_checkpoint.hpp>
#include <specdec_engine/drafter/feature_weights.hpp>
#include <specdec_engine/learn/features/feature_parameters.hpp>

namespace specdec::engine {

/// Packs a body's weights in the number format of another body, its target's.
[[nodiscard]] inline any_feature_weights pack_like(const feature_body& of,
                                                   const feature_parameters<float>& weights) {
    const feature_checkpoint view = view_features(weights);
    return of.with_pass([&]<class Format>(const feature_pass<Format>&) -> any_feature_weights {
        return pack_features<Format>(view, 1);
    });
}

/// Weights of a drafter's body that reads features, on their way from the thread that learns to the
/// one that decodes. Published weights decode from the next take() on. So a round that calls take()
/// where it begins, and nowhere else, draws and decides by one law, whatever is published
/// meanwhile.
///
///     ... after an update, on any thread:   serving.publish(learner.weights());
///     ... where a round begins:             if (const auto next = serving.take())
///     model.use(*next);
///
/// Of several publications between two takes the latest counts. For one decoding thread. A set is
/// new memory: what decodes is never written. Borrows the body. Errors: specdec::error for a body
/// with an embedding of its own: what learns reads the target's.
class serving_features {
public:
    explicit serving_features(const feature_body& of) : of_(of) {
        if (of.own_embedding())
            throw error("feature body", "tensor embed_tokens.weight",
                        "expected the target's embedding where weights learn, it is another");
    }

    /// Errors: specdec::error for numbers that the format cannot hold; what decodes stays.
    /// Complexity: a read and a write of all weights.
    void publish(const feature_parameters<float>& weights) {
        any_feature_weights packed = pack_like(of_, weights);
        const std::lock_guard lock(mutex_);
        fresh_ = std::move(packed);
    }
    /// The latest set if it is new.
    [[nodiscard]] std::optional<any_feature_weights> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(fresh_, std::nullopt);
    }

private:
    const feature_body& of_;
    std::mutex mutex_;
    std::optional<any_feature_weights> fresh_;
};

} // namespace specdec::engine
