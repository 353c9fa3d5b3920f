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

} // namespace specdec::testing
