// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>

#include "batch_of.hpp"

namespace specdec::testing {

/// A recurrent network: all that it knows of its text is a state of four numbers, which no token
/// can be taken out of. Models CheckpointingModelOf<Id>. Refuses a restore without a checkpoint. A
/// call can be told to fail.
template <class Id>
class recurrent_model {
public:
    explicit recurrent_model(std::size_t vocabulary, std::size_t capacity = 64)
        : vocabulary_(vocabulary), capacity_(capacity), rows_(capacity * vocabulary) {}

    [[nodiscard]] std::size_t size() const { return now_.size; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }

    void append(std::span<const Id> ids) {
        begin(ids);
        for (const Id id : ids)
            step(id);
        ++passes;
        fed += ids.size();
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        begin(ids);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            step(ids[i]);
            for (std::size_t v = 0; v < vocabulary_; ++v)
                rows_[i * vocabulary_ + v] = static_cast<float>(
                    2 * std::sin(static_cast<double>(v + 1) * now_.h[v % 4] + now_.h[(v + 1) % 4]));
        }
        ++passes;
        fed += ids.size();
        return {rows_.data(), ids.size(), vocabulary_, vocabulary_};
    }
    void clear() {
        now_ = {};
        remembered_.reset();
    }
    void checkpoint() { remembered_ = now_; }
    void restore() {
        if (!remembered_)
            fail("recurrent model", "restore", "expected a checkpoint");
        now_ = *remembered_;
    }

    std::size_t passes = 0, fed = 0;
    std::size_t fails_behind = 0; ///< the pass behind so many fails, once; 0: none does

private:
    struct state {
        std::array<double, 4> h{0.1, 0.2, 0.3, 0.4};
        std::size_t size = 0;
        friend bool operator==(const state&, const state&) = default;
    };

    void begin(std::span<const Id> ids) {
        if (ids.size() > capacity_ - now_.size)
            fail("recurrent model", "context", "expected room for the tokens");
        if (fails_behind > 0 && --fails_behind == 0)
            fail("recurrent model", "pass", "expected not to be told to fail");
    }
    void step(Id id) {
        const std::array<double, 4> h = now_.h;
        for (std::size_t i = 0; i < h.size(); ++i)
            now_.h[i] = std::tanh(1.3 * h[(i + 1) % 4] - 0.7 * h[i] +
                                  0.37 * static_cast<double>((id.index() + 1) * (i + 1)));
        ++now_.size;
    }

    std::size_t vocabulary_, capacity_;
    state now_;
    std::optional<state> remembered_;
    std::vector<float> rows_;
};

/// Several of them side by side. Models CheckpointingBatchModelOf<Id>.
template <class Id>
struct recurrent_batch : batch_of<Id, recurrent_model<Id>> {
    recurrent_batch(std::size_t sequences, std::size_t vocabulary, std::size_t capacity = 64)
        : batch_of<Id, recurrent_model<Id>>(sequences, recurrent_model<Id>(vocabulary, capacity)) {}

    void clear(std::size_t s) { this->models[s].clear(); }
    void checkpoint(std::size_t s) { this->models[s].checkpoint(); }
    void restore(std::size_t s) { this->models[s].restore(); }
    void truncate(std::size_t s, std::size_t n) = delete;
};

/// The same network, computed anew from its tokens before every call: what a model that can be
/// truncated says. Models ModelOf<Id>.
template <class Id>
class recomputed_model {
public:
    explicit recomputed_model(std::size_t vocabulary, std::size_t capacity = 64)
        : inner_(vocabulary, capacity) {}

    [[nodiscard]] std::size_t size() const { return tokens_.size(); }
    [[nodiscard]] std::size_t capacity() const { return inner_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return inner_.vocabulary_size(); }
    void append(std::span<const Id> ids) { (void)score(ids); }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        if (ids.size() > capacity() - size())
            fail("recomputed model", "context", "expected room for the tokens");
        tokens_.insert(tokens_.end(), ids.begin(), ids.end());
        inner_.clear();
        return inner_.score(tokens_).last(ids.size());
    }
    void truncate(std::size_t n) { tokens_.resize(n); }

private:
    recurrent_model<Id> inner_;
    std::vector<Id> tokens_;
};

} // namespace specdec::testing
