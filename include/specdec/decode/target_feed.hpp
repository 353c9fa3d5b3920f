// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/require.hpp>

namespace specdec {

/// Knows what the target's context holds of a session's text, and what it has to be fed. `tokens`
/// are the committed tokens of the text and then the round's; a round needs the row behind the last
/// committed token and behind each of its own.
class target_feed {
public:
    void reserve(std::size_t tokens) { mirror_.reserve(tokens); }

    /// Another text begins. The context may hold the same beginning already.
    void start() { unchanged_ = 0; }
    /// The context is gone.
    void lost() {
        mirror_.truncated(0);
        unchanged_ = 0;
    }

    [[nodiscard]] context_edit<target_id> edit(std::span<const target_id> tokens,
                                               std::size_t committed) const {
        const std::size_t keep = mirror_.plan(tokens.first(committed), unchanged_).truncate_to;
        return {keep, tokens.subspan(keep)};
    }
    void fed(const context_edit<target_id>& edit, std::size_t committed) {
        mirror_.truncated(edit.truncate_to);
        mirror_.fed(edit.append);
        unchanged_ = committed;
    }

    /// Does the edit with a model, except for the tokens whose rows are needed. Returns those.
    template <ContextOf<target_id> Target>
    [[nodiscard]] context_edit<target_id> prepare(Target& target, std::span<const target_id> tokens,
                                                  std::size_t committed) {
        const std::size_t same = mirror_.meet(target);
        unchanged_ = same < unchanged_ ? same : unchanged_;
        const context_edit<target_id> all = edit(tokens, committed);
        require_ids(all.append, target.vocabulary_size(), "session", "tokens");
        if (all.truncate_to < target.size()) {
            target.truncate(all.truncate_to);
            mirror_.truncated(all.truncate_to);
        }
        const std::size_t rows = tokens.size() - committed + 1;
        const std::size_t silent = all.append.size() - rows;
        if (silent > 0) {
            target.append(all.append.first(silent));
            fed({all.truncate_to, all.append.first(silent)}, committed);
        }
        return {all.truncate_to + silent, all.append.subspan(silent)};
    }

private:
    context_tracker<target_id> mirror_;
    std::size_t unchanged_ = 0; // tokens that are as they were when the mirror was last fed
};

} // namespace specdec
