// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

namespace specdec {

/// Calls `undo` at the end of its scope, unless done() was called before. So a throw in between
/// leaves nothing half changed. Compiles without exceptions, too.
///
///     on_throw guard([&] { model.truncate(size); });
///     model.append(first);
///     model.append(second);
///     guard.done();
///
/// Precondition: undo throws nothing.
template <class Undo>
class on_throw {
public:
    explicit on_throw(Undo undo) : undo_(std::move(undo)) {}
    on_throw(const on_throw&) = delete;
    on_throw& operator=(const on_throw&) = delete;
    ~on_throw() {
        if (!done_)
            undo_();
    }
    void done() { done_ = true; }

private:
    Undo undo_;
    bool done_ = false;
};

} // namespace specdec
