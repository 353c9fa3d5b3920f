// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace specdec::engine {

/// Memory to be fetched into the second-level cache while a kernel computes, a line for every two
/// that it reads itself: what the next calls will need.
class fetch_ahead {
public:
    fetch_ahead() = default;
    explicit fetch_ahead(std::span<const std::byte> memory)
        : next_(memory.data()), last_(next_ + memory.size()) {}

    [[gnu::always_inline]] void line() {
        if (next_ < last_) {
            __builtin_prefetch(next_, 0, 2);
            next_ += 64;
        }
    }

private:
    const std::byte* next_ = nullptr;
    const std::byte* last_ = nullptr;
};

} // namespace specdec::engine
