// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

#include <specdec_engine/learn/refresh_weights.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

/// Two sets of packed weights of a drafter that decodes while it learns: one set decodes, the other
/// is written. Published weights decode from the next take() on. So a round that calls take() where
/// it begins, and nowhere else, draws and decides by one law, whatever is published meanwhile.
///
///     serving_weights<bf16_bits> serving(learner.weights());
///     ... after an update, on any thread:   serving.publish(learner.weights());
///     ... where a round begins:             if (auto next = serving.take()) drafter.use(next);
///
/// Of several publications between two takes the latest counts. For one decoding thread (one model,
/// whose contexts all change together) and any number of publishing threads, which wait for each
/// other; the decoding thread does not wait. A set that was taken must not be read after the next
/// take() that gave one. Memory: twice the packed weights.
template <PanelValue Value>
class serving_weights {
public:
    using set = std::shared_ptr<const model_weights<Value>>;

    /// threads: of packing; 0: one a core.
    explicit serving_weights(const model_parameters<float>& first, std::size_t threads = 1)
        : threads_(threads) {
        for (auto& weights : sets_)
            weights = std::make_shared<model_weights<Value>>(first.config());
        refresh_weights(*sets_[used_], first, threads_);
    }

    /// Errors: specdec::error for weights of another shape; what decodes stays. Complexity: a read
    /// and a write of all weights.
    void publish(const model_parameters<float>& weights) {
        const std::lock_guard turn(publishing_);
        const std::size_t spare = [this] {
            const std::lock_guard lock(mutex_);
            fresh_ = false; // what nobody has taken is written over
            return 1 - used_;
        }();
        refresh_weights(*sets_[spare], weights, threads_);
        const std::lock_guard lock(mutex_);
        fresh_ = true;
    }

    /// The latest set if it is new, else null.
    [[nodiscard]] set take() {
        const std::lock_guard lock(mutex_);
        if (!fresh_)
            return nullptr;
        fresh_ = false;
        used_ = 1 - used_;
        return sets_[used_];
    }
    /// The set that decodes, for the decoding thread.
    [[nodiscard]] set current() const {
        const std::lock_guard lock(mutex_);
        return sets_[used_];
    }

private:
    std::size_t threads_;
    std::array<std::shared_ptr<model_weights<Value>>, 2> sets_;
    std::mutex publishing_;
    mutable std::mutex mutex_;
    std::size_t used_ = 0; ///< the set that decodes
    bool fresh_ = false;   ///< the other one was published, and not taken
};

} // namespace specdec::engine
