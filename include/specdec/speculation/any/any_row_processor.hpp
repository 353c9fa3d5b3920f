// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <utility>

#include <specdec/process/row_processor.hpp>

namespace specdec {

/// A row processor chosen at run time, or none, which costs nothing. Models RowProcessor<.., Id>.
template <class Id>
class any_row_processor {
public:
    any_row_processor() = default;
    template <RowProcessor<Id> P>
    explicit(false) any_row_processor(P process) : process_(std::move(process)) {}

    [[nodiscard]] bool active() const { return static_cast<bool>(process_); }
    /// Precondition: active().
    void operator()(std::span<const Id> tokens, std::span<float> row) { process_(tokens, row); }

private:
    std::function<void(std::span<const Id>, std::span<float>)> process_;
};

} // namespace specdec
