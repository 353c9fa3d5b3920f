// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/token_strings.hpp>

namespace specdec {

/// The one way in which the drafter's own tokenizer writes each target token:
///
/// - a token that the map shares is its draft token;
/// - another text token is the two or more draft tokens that the drafter's tokenizer writes for its
///   bytes in a continuation, where they give back these bytes;
/// - any other (a control token without equivalent, bytes that the drafter lacks, bytes that it
///   writes as one token, which stands for another id already) has no spelling.
///
/// Several ids of equal bytes that the map leaves out have equal spellings.
/// The bytes of a token are written alone: what a tokenizer would do across its edges is not known
/// here. Immutable: one object may be read by any number of threads. Memory: 4 bytes a spelled
/// token, 8 a target token, 4 a draft token. Look-ups allocate nothing.
class canonical_spellings {
public:
    /// Keeps nothing of the arguments. Errors: those of the tokenizer. Complexity: an encode of
    /// every target token that is not shared.
    template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
    canonical_spellings(const TargetTokenizer& target, const DraftTokenizer& draft,
                        const id_map& map)
        : first_(map.draft_size() + 1) {
        std::vector<draft_id> own;
        for (std::size_t i = 0; i < target.vocabulary_size(); ++i) {
            const auto t = id_at<target_id>(i);
            if (const draft_id d = map.to_draft(t); d.valid()) {
                ids_.push_back(d);
            } else if (!target.bytes(t).empty()) {
                own.clear();
                draft.encode(target.bytes(t), encode_mode::continuation, own);
                if (own.size() > 1 && all_of_the_map(own) &&
                    spells(draft, std::span<const draft_id>(own), target.bytes(t)))
                    ids_.insert(ids_.end(), own.begin(), own.end());
            }
            ends_.push_back(static_cast<std::uint32_t>(ids_.size()));
        }
        index_by_first();
    }

    [[nodiscard]] std::size_t target_size() const { return ends_.size(); }
    [[nodiscard]] std::size_t draft_size() const { return first_.size() - 1; }
    /// Draft tokens of the longest spelling.
    [[nodiscard]] std::size_t longest() const { return longest_; }

    /// The draft tokens that spell t, empty without a spelling. Precondition: t is a target id.
    [[nodiscard]] std::span<const draft_id> of(target_id t) const {
        const std::uint32_t begin = t.value == 0 ? 0 : ends_[t.index() - 1];
        return std::span(ids_).subspan(begin, ends_[t.index()] - begin);
    }
    /// The target tokens whose spelling begins with d: that which d alone spells, if any, then the
    /// longer ones, ascending. Precondition: d is a draft id.
    [[nodiscard]] std::span<const target_id> beginning_with(draft_id d) const {
        return std::span(by_first_).subspan(first_[d.index()],
                                            first_[d.index() + 1] - first_[d.index()]);
    }

private:
    [[nodiscard]] bool all_of_the_map(std::span<const draft_id> ids) const {
        for (const draft_id d : ids)
            if (!d.valid() || d.index() >= draft_size())
                return false;
        return true;
    }

    void index_by_first() {
        for (std::size_t i = 0; i < target_size(); ++i)
            if (const auto spelling = of(id_at<target_id>(i)); !spelling.empty()) {
                ++first_[spelling[0].index() + 1];
                longest_ = spelling.size() > longest_ ? spelling.size() : longest_;
            }
        for (std::size_t d = 0; d < draft_size(); ++d)
            first_[d + 1] += first_[d];
        by_first_.resize(first_[draft_size()]);
        std::vector<std::uint32_t> place(first_);
        for (const bool alone : {true, false})
            for (std::size_t i = 0; i < target_size(); ++i)
                if (const auto spelling = of(id_at<target_id>(i));
                    !spelling.empty() && (spelling.size() == 1) == alone)
                    by_first_[place[spelling[0].index()]++] = id_at<target_id>(i);
    }

    std::vector<std::uint32_t> ends_;  // [target_size] where the spelling of each token ends
    std::vector<draft_id> ids_;        // [ends_.back()]
    std::vector<std::uint32_t> first_; // [draft_size + 1] where in by_first_ those of d begin
    std::vector<target_id> by_first_;  // the tokens with a spelling, by its first draft token
    std::size_t longest_ = 0;
};

} // namespace specdec
