// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/vocab/encoding/continuation.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// The text of a draft, encoded again in the target's vocabulary behind the committed tokens: what
/// SLEM proposes (slem_bridge, slem_tree_bridge).
///
///     t.clear()               a draft begins
///     t.push(d)               it goes on with d. False: a control token, which ends it
///     t.tokens(most, ends)    the draft in T, at most so many tokens, none behind one of `ends`
///
/// A control token is its equivalent in T, if there is one, and nothing otherwise; the map is used
/// for that only. Borrows tokenizers and map. Memory, at construction, which reads the drafter's
/// vocabulary once: buffers for `capacity` committed tokens and the longest draft (16 bytes for
/// each of its bytes). Allocates nothing later, unless a tokenizer makes more tokens of a text than
/// it has bytes.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class drafted_text {
public:
    drafted_text(const TargetTokenizer& target, const DraftTokenizer& draft, const id_map& map,
                 std::size_t capacity, std::size_t max_draft)
        : draft_(draft), map_(map), encoder_(target) {
        std::size_t longest = 1;
        for (std::size_t d = 0; d < draft.vocabulary_size(); ++d)
            if (const std::size_t n = draft.bytes(id_at<draft_id>(d)).size(); n > longest)
                longest = n;
        bytes_ = max_draft * longest;
        encoder_.reserve(bytes_);
        text_.reserve(bytes_);
        committed_.reserve(capacity);
        tokens_.reserve(bytes_ + 1);
    }

    void start() { committed_.clear(); }
    void follow(std::span<const target_id> committed) {
        committed_.insert(committed_.end(), committed.begin(), committed.end());
    }

    void clear() {
        text_.clear();
        last_ = {};
    }
    bool push(draft_id d) {
        const std::string_view bytes = draft_.bytes(d);
        if (bytes.empty())
            last_ = map_.to_target(d);
        text_.append(bytes);
        return !bytes.empty();
    }
    /// Until the next call.
    [[nodiscard]] std::span<const target_id> tokens(std::size_t most,
                                                    std::span<const target_id> end_ids) {
        tokens_.clear();
        if (!text_.empty())
            encoder_.encode(committed_, text_, tokens_);
        if (last_.valid())
            tokens_.push_back(last_);
        std::size_t n = 0;
        while (n < tokens_.size() && n < most && (n == 0 || !is_end(end_ids, tokens_[n - 1])))
            ++n;
        return std::span(tokens_).first(n);
    }
    /// The most bytes of a draft, and so one less than the most tokens of T.
    [[nodiscard]] std::size_t most_bytes() const { return bytes_; }

private:
    const DraftTokenizer& draft_;
    const id_map& map_;
    continuation_encoder<TargetTokenizer> encoder_;
    std::size_t bytes_ = 0;
    std::vector<target_id> committed_;
    std::string text_;
    target_id last_; // the control token that ended the draft, if the target has it
    std::vector<target_id> tokens_;
};

} // namespace specdec
