// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/bridge/context/draft_context.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/vocab/encoding/retokenizer.hpp>
#include <specdec/vocab/table/checked.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// The drafter's context when the vocabularies differ: the committed text, encoded again in the
/// drafter's vocabulary. A target token without a draft token of the same bytes becomes several
/// draft tokens, never UNK or EOS. A control token becomes its equivalent in the map; without one
/// it is left out, as it is no text.
///
/// follow() only notes the tokens, 4 bytes each; the next call of ids(), unchanged() or mark()
/// encodes them, up to `together` bytes at once.
///
/// Models DraftContext. Borrows the tokenizers and the map. Not for several threads: const
/// functions encode, too. Allocates only beyond the reserved capacity (in target tokens). Errors:
/// as require_map. If a tokenizer throws in ids(), unchanged() or mark(), the context has to be
/// started again.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class retokenised_context {
public:
    retokenised_context(const TargetTokenizer& target, const DraftTokenizer& draft,
                        const id_map& map, std::size_t capacity)
        : target_(target), map_(map), capacity_(capacity), text_(draft) {
        require_map(map, target, draft, "drafter's context");
        reserve();
    }

    // Each of the three is borrowed.
    retokenised_context(const TargetTokenizer&& gone_before_use, const DraftTokenizer&,
                        const id_map&, std::size_t) = delete;
    retokenised_context(const TargetTokenizer&, const DraftTokenizer&& gone_before_use,
                        const id_map&, std::size_t) = delete;
    retokenised_context(const TargetTokenizer&, const DraftTokenizer&,
                        const id_map&& gone_before_use, std::size_t) = delete;

    void start(std::span<const draft_id> prefix) {
        reserve(); // a copy has lost it
        noted_.clear();
        bytes_.clear();
        text_.reset();
        text_.mark();
        for (const draft_id d : prefix)
            special(d);
    }

    void follow(std::span<const target_id> committed) {
        noted_.insert(noted_.end(), committed.begin(), committed.end());
    }

    [[nodiscard]] std::size_t target_size() const { return map_.target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return map_.draft_size(); }

    [[nodiscard]] std::span<const draft_id> ids() const { return read().ids(); }
    [[nodiscard]] std::size_t unchanged() const { return read().changed_from(); }
    void mark() { read().mark(); }

private:
    using text_type = retokenizer<DraftTokenizer, draft_id>;
    static constexpr std::size_t together = 128;

    void reserve() {
        text_.reserve(2 * capacity_);
        noted_.reserve(capacity_);
        bytes_.reserve(together);
    }
    /// The text, with all noted tokens encoded.
    text_type& read() const {
        for (const target_id t : noted_) {
            const std::string_view bytes = target_.bytes(t);
            if (bytes_.size() + bytes.size() > together)
                encode();
            bytes_.append(bytes);
            if (!bytes.empty())
                continue;
            encode();
            if (const draft_id d = map_.to_draft(t); d.valid())
                special(d);
        }
        noted_.clear();
        encode();
        return text_;
    }
    void encode() const {
        text_.append(bytes_);
        bytes_.clear();
    }
    /// Behind a control token that opens the sequence (BOS) a text starts; behind any other one it
    /// goes on.
    void special(draft_id d) const {
        text_.append_special(d,
                             text_.ids().empty() ? encode_mode::start : encode_mode::continuation);
    }

    const TargetTokenizer& target_;
    const id_map& map_;
    std::size_t capacity_;
    mutable text_type text_;
    mutable std::vector<target_id> noted_; // committed, not yet in text_
    mutable std::string bytes_;            // of noted tokens, to be encoded next
};

} // namespace specdec
