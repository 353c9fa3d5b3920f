// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include <specdec/process/row_processor.hpp>

namespace specdec {

/// A row processor chosen at run time, or none, which costs nothing; reserve and active are its
/// own, where it has them. Models RowProcessor<.., Id>.
template <class Id>
class any_row_processor {
public:
    static constexpr processor_traits traits{.reserve = true, .active = true};
    any_row_processor() = default;
    template <RowProcessor<Id> P>
    explicit(false) any_row_processor(P process)
        : process_([p = std::move(process)](const call& c) mutable {
              if (c.reserve > 0)
                  reserve_tokens(p, c.reserve);
              if (!c.row.empty())
                  p(c.tokens, c.row);
              return is_active(p);
          }) {}

    [[nodiscard]] bool active() const { return process_ && process_({}); }
    void reserve(std::size_t tokens) {
        if (process_)
            process_({.reserve = tokens});
    }
    /// Precondition: active().
    void operator()(std::span<const Id> tokens, std::span<float> row) {
        process_({.tokens = tokens, .row = row});
    }

private:
    struct call {
        std::size_t reserve = 0;
        std::span<const Id> tokens{};
        std::span<float> row{};
    };
    std::function<bool(const call&)> process_;
};

} // namespace specdec
