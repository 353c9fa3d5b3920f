// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/learn/distillation_sample.hpp>

namespace specdec {

/// A source of randomness: a callable that returns uniform numbers in [0, 1).
template <class U>
concept UniformSource = requires(U& uniform) {
    { uniform() } -> std::convertible_to<double>;
};

/// Keeps the last texts that a drafter learnt from, with at most `max_tokens` draft tokens
/// together. Text: has tokens and rows, as distillation_sample and feature_sample. An update learns
/// some of them again, so that the drafter does not forget (ours: OmniDraft's Alg. 2 learns a text
/// once). A ring: the oldest texts leave, and a new one takes the memory of the last of these,
/// so texts of like lengths allocate nothing in the long run, and what texts have left is no more
/// memory than what is held.
template <class Text>
class basic_replay_buffer {
public:
    explicit basic_replay_buffer(std::size_t max_tokens) : max_tokens_(max_tokens) {}

    /// Copies the text; one without rows, which teaches nothing, is left out. Complexity: linear in
    /// it. Errors: specdec::error for a text of more tokens than the buffer.
    void add(const Text& text) {
        if (text.tokens.size() > max_tokens_)
            fail("replay buffer", "text",
                 "expected at most " + std::to_string(max_tokens_) + " tokens, found " +
                     std::to_string(text.tokens.size()));
        if (text.rows.empty())
            return;
        Text left; // with the memory of the last one that does
        while (tokens_ + text.tokens.size() > max_tokens_) {
            tokens_ -= texts_[oldest_].tokens.size();
            left = std::exchange(texts_[oldest_], Text{});
            oldest_ = at(1);
            --size_;
        }
        if (size_ == texts_.size())
            grow();
        left = text;
        texts_[at(size_)] = std::move(left);
        tokens_ += text.tokens.size();
        ++size_;
    }

    /// Texts, and draft tokens of them all.
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t tokens() const { return tokens_; }

    /// 0: the oldest. Pre: i < size(). It stays where it is until add().
    [[nodiscard]] const Text& operator[](std::size_t i) const { return texts_[at(i)]; }

    /// Appends the n newest to `out`, the oldest of them first; all where there are fewer.
    void newest(std::size_t n, std::vector<const Text*>& out) const {
        for (std::size_t i = n < size_ ? size_ - n : 0; i < size_; ++i)
            out.push_back(&(*this)[i]);
    }

    /// Appends n different ones to `out`, every choice equally likely; all where there are fewer.
    /// Asks for a number each (Floyd's sampling). Complexity: O(n^2).
    template <UniformSource U>
    void draw(U&& uniform, std::size_t n, std::vector<const Text*>& out) const {
        const std::size_t first = out.size();
        const auto chosen = [&](const Text* text) {
            for (std::size_t k = first; k < out.size(); ++k)
                if (out[k] == text)
                    return true;
            return false;
        };
        for (std::size_t last = n < size_ ? size_ - n : 0; last < size_; ++last) {
            const auto i = static_cast<std::size_t>(static_cast<double>(uniform()) *
                                                    static_cast<double>(last + 1));
            const Text* const text = &(*this)[i < last ? i : last];
            out.push_back(chosen(text) ? &(*this)[last] : text);
        }
    }

private:
    [[nodiscard]] std::size_t at(std::size_t i) const {
        const std::size_t k = oldest_ + i;
        return k < texts_.size() ? k : k - texts_.size();
    }
    /// Twice the places, the oldest text in the first.
    void grow() {
        std::vector<Text> more(texts_.empty() ? 8 : 2 * texts_.size());
        for (std::size_t i = 0; i < size_; ++i)
            std::swap(more[i], texts_[at(i)]);
        texts_ = std::move(more);
        oldest_ = 0;
    }

    std::size_t max_tokens_;
    std::vector<Text> texts_; // a ring; places behind the last text are empty
    std::size_t oldest_ = 0, size_ = 0;
    std::size_t tokens_ = 0;
};

using replay_buffer = basic_replay_buffer<distillation_sample>;

} // namespace specdec
