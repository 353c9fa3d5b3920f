// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/head/lm_head.hpp>

#include "toy_rows.hpp"

namespace specdec::testing {

/// An LM head as plain loops, padded by two rows of 1000 that must never matter. Counts the
/// products it makes. Models SelectableHeadOf<Id>.
template <class Id>
class toy_head {
public:
    toy_head(std::size_t vocabulary, std::size_t width, std::vector<float> rows)
        : vocabulary_(vocabulary), width_(width), rows_(std::move(rows)) {
        rows_.resize((vocabulary_ + 2) * width_, 1000.0F);
    }
    /// [vocabulary, vocabulary], 1 on the diagonal: logits are the hidden state.
    static toy_head unit(std::size_t vocabulary) {
        std::vector<float> rows(vocabulary * vocabulary);
        for (std::size_t v = 0; v < vocabulary; ++v)
            rows[v * vocabulary + v] = 1;
        return {vocabulary, vocabulary, std::move(rows)};
    }
    static toy_head random(std::size_t vocabulary, std::size_t width, std::uint64_t seed) {
        std::vector<float> rows(vocabulary * width);
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = static_cast<float>(scramble(seed, {}, i) % 1000) / 500.0F - 1.0F;
        return {vocabulary, width, std::move(rows)};
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    [[nodiscard]] std::size_t width() const { return width_; }

    void multiply(const hidden_states& x, scores_out out) { multiply(x, 0, vocabulary_, out); }
    void multiply(const hidden_states& x, std::size_t first, std::size_t n, scores_out out) {
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t k = 0; k < n; ++k)
                out.data[i * out.stride + k] = product(x[i], first + k);
    }
    void multiply(const hidden_states& x, std::span<const Id> ids, scores_out out) {
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t k = 0; k < ids.size(); ++k)
                out.data[i * out.stride + k] = product(x[i], ids[k].index());
    }

    [[nodiscard]] toy_head select(std::span<const Id> ids) const {
        std::vector<float> rows;
        for (const Id id : ids)
            for (std::size_t j = 0; j < width_; ++j)
                rows.push_back(rows_[id.index() * width_ + j]);
        return {ids.size(), width_, std::move(rows)};
    }
    void replace(std::size_t k, const toy_head& from, Id id) {
        for (std::size_t j = 0; j < width_; ++j)
            rows_[k * width_ + j] = from.rows_[id.index() * width_ + j];
    }

    std::size_t products = 0;

private:
    float product(hidden_state x, std::size_t r) {
        ++products;
        float sum = 0;
        for (std::size_t j = 0; j < width_; ++j)
            sum += x.values[j] * rows_[r * width_ + j];
        return sum;
    }

    std::size_t vocabulary_, width_;
    std::vector<float> rows_;
};

/// The same without copies of rows.
template <class Id>
struct fixed_head {
    toy_head<Id>& inner;
    [[nodiscard]] std::size_t vocabulary_size() const { return inner.vocabulary_size(); }
    [[nodiscard]] std::size_t width() const { return inner.width(); }
    void multiply(const hidden_states& x, scores_out out) { inner.multiply(x, out); }
    void multiply(const hidden_states& x, std::size_t first, std::size_t n, scores_out out) {
        inner.multiply(x, first, n, out);
    }
    void multiply(const hidden_states& x, std::span<const Id> ids, scores_out out) {
        inner.multiply(x, ids, out);
    }
};

/// A model whose hidden states are any function of the tokens before them, behind a first token
/// that they ignore. Models HiddenModelOf<Id>.
template <class Id>
class toy_hidden_model {
public:
    using state_function = std::function<std::vector<float>(const sequence& prefix)>;

    toy_hidden_model(std::size_t vocabulary, std::size_t width, state_function state)
        : vocabulary_(vocabulary), width_(width), state_(std::move(state)) {}

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return 64; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    void append(std::span<const Id> ids) {
        require_room(ids);
        for (const Id id : ids)
            held_.push_back(id.value);
    }
    [[nodiscard]] hidden_states hidden(std::span<const Id> ids) {
        require_room(ids);
        states_.clear();
        for (const Id id : ids) {
            held_.push_back(id.value);
            const std::vector<float> state = state_({held_.begin() + 1, held_.end()});
            states_.insert(states_.end(), state.begin(), state.end());
        }
        return {states_.data(), ids.size(), width_, width_};
    }
    void truncate(std::size_t n) { held_.resize(n); }

private:
    void require_room(std::span<const Id> ids) const {
        if (ids.size() > capacity() - size())
            throw "toy_hidden_model: beyond its capacity";
    }

    std::size_t vocabulary_, width_;
    state_function state_;
    sequence held_;
    std::vector<float> states_;
};

/// Hidden states one behind the other.
inline hidden_states states_of(const std::vector<float>& numbers, std::size_t width) {
    return {numbers.data(), numbers.size() / width, width, width};
}

/// Two sequences of such a model, which want to know where rounds begin.
template <class Id>
struct two_hidden_models {
    std::vector<toy_hidden_model<Id>> of;
    std::vector<float> states{};
    std::vector<std::size_t> begun{0, 0};

    explicit two_hidden_models(const toy_hidden_model<Id>& model) : of(2, model) {}

    static constexpr model_traits traits{.begin_draft_round = true, .reads_features = true};
    [[nodiscard]] static bool reads_features() { return true; }
    [[nodiscard]] std::size_t sequences() const { return of.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return of[s].size(); }
    [[nodiscard]] std::size_t capacity() const { return of[0].capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return of[0].vocabulary_size(); }
    void append(std::size_t s, std::span<const Id> ids) { of[s].append(ids); }
    [[nodiscard]] hidden_states hidden(std::span<const sequence_tokens<Id>> parts) {
        states.clear();
        std::size_t width = 0;
        for (const auto& [s, ids] : parts) {
            const hidden_states x = of[s].hidden(ids);
            width = x.width();
            states.insert(states.end(), x[0].values.data(), x[0].values.data() + x.size() * width);
        }
        return states_of(states, width);
    }
    void truncate(std::size_t s, std::size_t n) { of[s].truncate(n); }
    void begin_draft_round(std::size_t s, std::size_t n) { begun[s] = n; }
};

/// A router whose logits are a slice of the hidden state.
struct toy_router {
    std::size_t n, width_;
    [[nodiscard]] std::size_t groups() const { return n; }
    [[nodiscard]] std::size_t width() const { return width_; }
    void route(hidden_state x, std::span<float> out) const {
        for (std::size_t g = 0; g < n; ++g)
            out[g] = 0.5F * x.values[(g + 1) % x.values.size()];
    }
};

} // namespace specdec::testing
