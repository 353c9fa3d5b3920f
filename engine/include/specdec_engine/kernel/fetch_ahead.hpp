// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace specdec::engine {

/// Memory that the next calls will need, fetched into the second-level cache while a kernel
/// computes: for every two lines that the kernel reads one line, or `lines`.
class fetch_ahead {
public:
    fetch_ahead() = default;
    explicit fetch_ahead(std::span<const std::byte> memory, std::size_t lines = 1)
        : next_(memory.data()), last_(next_ + memory.size()), lines_(lines) {}

    /// To be called once for every two lines that the kernel reads. It may name a line behind the
    /// memory: a prefetch never faults.
    [[gnu::always_inline]] void line() {
        if (next_ < last_) {
            __builtin_prefetch(next_, 0, 2);
            if (lines_ == 2)
                __builtin_prefetch(next_ + 64, 0, 2);
            next_ += 64 * lines_;
        }
    }

private:
    const std::byte* next_ = nullptr;
    const std::byte* last_ = nullptr;
    std::size_t lines_ = 1;
};

} // namespace specdec::engine
