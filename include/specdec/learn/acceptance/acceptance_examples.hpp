// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/draft/draft_outcome.hpp>
#include <specdec/learn/replay_buffer.hpp>

namespace specdec {

/// One example for an acceptance head: what a draft looked like, and whether its last token, or the
/// next one, was kept.
struct acceptance_example {
    draft_progress at;
    std::size_t output = 0; ///< 0: d_n was kept; 1: d_(n+1) was
    float label = 0;        ///< see acceptance_labels
};

/// The last examples of a head that learns, those of earlier batches too (OmniDraft, 3.3: the
/// larger buffer of the interleaved variant). A ring: the oldest leave. It holds tokens, not their
/// embeddings, which may move. Memory: `capacity` examples, at construction.
class acceptance_examples {
public:
    /// Errors: specdec::error for no capacity.
    explicit acceptance_examples(std::size_t capacity) : ring_(capacity) {
        if (capacity == 0)
            fail("acceptance examples", "capacity", "expected 1 or more");
    }

    /// A round's steps and the labels of the first of them: two examples a label.
    void add(std::span<const draft_progress> steps, std::span<const float> labels) {
        for (std::size_t i = 0; i < labels.size() && i < steps.size(); ++i)
            add(steps, i, labels[i]);
    }
    /// The same without labels: 1 for each kept token of the draft, 0 for the rejected one.
    void add(const draft_outcome& o) {
        const std::size_t decided = o.kept + (o.rejected ? 1U : 0U);
        for (std::size_t i = 0; i < decided && i < o.steps.size(); ++i)
            add(o.steps, i, i < o.kept ? 1.0F : 0.0F);
    }

    void clear() { oldest_ = size_ = 0; }

    [[nodiscard]] std::size_t size() const { return size_; }
    /// Since construction, those that left the ring, too.
    [[nodiscard]] std::size_t added() const { return added_; }
    /// 0: the oldest. Pre: i < size().
    [[nodiscard]] const acceptance_example& operator[](std::size_t i) const {
        return ring_[(oldest_ + i) % ring_.size()];
    }
    /// One of them, each equally likely. Pre: size() > 0.
    template <UniformSource U>
    [[nodiscard]] const acceptance_example& any(U&& uniform) const {
        const auto i =
            static_cast<std::size_t>(static_cast<double>(uniform()) * static_cast<double>(size_));
        return (*this)[i < size_ ? i : size_ - 1];
    }

private:
    void add(std::span<const draft_progress> steps, std::size_t i, float label) {
        add({i == 0 ? draft_progress{} : steps[i - 1], 1, label});
        add({steps[i], 0, label});
    }
    void add(const acceptance_example& x) {
        ring_[(oldest_ + size_) % ring_.size()] = x;
        ++added_;
        if (size_ < ring_.size())
            ++size_;
        else
            oldest_ = (oldest_ + 1) % ring_.size();
    }

    std::vector<acceptance_example> ring_;
    std::size_t oldest_ = 0, size_ = 0, added_ = 0;
};

} // namespace specdec
