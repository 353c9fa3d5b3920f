// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/law_version.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// A draft head that computes all rows of an LM head. Models DraftHeadOf<Id>. Borrows the head.
template <class Id, LmHeadOf<Id> Head>
class full_head {
public:
    using id_type = Id;

    explicit full_head(Head& head) : head_(head) {}

    [[nodiscard]] std::size_t vocabulary_size() const { return head_.vocabulary_size(); }
    [[nodiscard]] std::size_t width() const { return head_.width(); }
    [[nodiscard]] law_version version() const { return version_of(head_); }
    void rows(const hidden_states& x, scores_out out) { head_.multiply(x, out); }

private:
    Head& head_;
};

} // namespace specdec
