// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <specdec/bridge/draft_context.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/vocab/checked.hpp>
#include <specdec/vocab/id_map.hpp>
#include <specdec/vocab/retokenizer.hpp>

namespace specdec {

/// The drafter's context when the vocabularies differ: the committed text, encoded again in the
/// drafter's vocabulary. A target token without a draft token of the same bytes becomes several
/// draft tokens, never UNK or EOS. A control token becomes its equivalent of the map; without one
/// it leaves no trace (it is no text). Models DraftContext. Borrows the tokenizers and the map.
/// Errors: specdec::error for a map of other vocabularies, intersect()'s with its arguments swapped
/// among them (see require_map).
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class retokenised_context {
public:
    retokenised_context(const TargetTokenizer& target, const DraftTokenizer& draft,
                        const id_map& map, std::size_t capacity)
        : target_(target), map_(map), text_(draft) {
        require_map(map, target, draft, "drafter's context");
        text_.reserve(2 * capacity);
    }

    void start(std::span<const draft_id> prefix) {
        text_.reset();
        text_.mark();
        for (const draft_id d : prefix)
            special(d);
    }

    void follow(std::span<const target_id> committed) {
        for (const target_id t : committed) {
            const std::string_view bytes = target_.bytes(t);
            if (!bytes.empty())
                text_.append(bytes);
            else if (const draft_id d = map_.to_draft(t); d.valid())
                special(d);
        }
    }

    [[nodiscard]] std::size_t target_size() const { return map_.target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return map_.draft_size(); }

    [[nodiscard]] std::span<const draft_id> ids() const { return text_.ids(); }
    [[nodiscard]] std::size_t unchanged() const { return text_.changed_from(); }
    void mark() { text_.mark(); }

private:
    /// Behind what opens a sequence (BOS) a text starts; behind other control tokens it goes on.
    void special(draft_id d) {
        text_.append_special(d, text_.ids().empty() ? text_position::start
                                                    : text_position::continuation);
    }

    const TargetTokenizer& target_;
    const id_map& map_;
    retokenizer<DraftTokenizer, draft_id> text_;
};

} // namespace specdec
