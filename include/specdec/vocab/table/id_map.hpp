// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility> // std::move
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// The identity of tokens across two vocabularies: a partial function D -> T and its inverse, as
/// used by TLI (Timor et al., Algorithm 4) and the union rule (Algorithm 1). Built by intersect()
/// (equal bytes) or identity() (equal vocabularies, whatever their padding).
///
/// Several draft ids may map to one target id (SentencePiece has both <0x41> and A); to_draft gives
/// the canonical one and next_duplicate walks through the others, so that
///
///     for (draft_id d = map.to_draft(t); d.valid(); d = map.next_duplicate(d)) ...
///
/// visits every draft id of t once. A target id has at most one entry in each direction's table: of
/// target ids with equal bytes one is canonical and the others have no draft id.
///
/// Immutable: one object may be read by any number of threads. Every look-up is O(1) and allocates
/// nothing; an id outside the vocabularies (the padding of an LM head) has no counterpart.
class id_map {
public:
    id_map() = default;

    /// From both tables, -1 for "none". Post: the ids of a target id are chained, canonical id
    /// first, the others ascending. Errors: ids outside the vocabularies, a canonical id that does
    /// not map back, a target id that is mapped to but has no canonical id. Complexity: linear.
    id_map(std::vector<std::int32_t> draft_to_target, std::vector<std::int32_t> target_to_draft,
           std::uint64_t draft_fingerprint, std::uint64_t target_fingerprint)
        : draft_to_target_(std::move(draft_to_target)),
          target_to_draft_(std::move(target_to_draft)), next_(draft_to_target_.size(), none),
          draft_fingerprint_(draft_fingerprint), target_fingerprint_(target_fingerprint) {
        for (std::size_t t = 0; t < target_size(); ++t) {
            const std::int32_t canonical = target_to_draft_[t];
            if (canonical == none)
                continue;
            ++shared_targets_;
            if (!below(canonical, draft_size()) ||
                draft_to_target_[static_cast<std::size_t>(canonical)] !=
                    static_cast<std::int32_t>(t))
                fail("id_map", "target_to_draft", "expected draft ids that map back");
        }
        for (std::size_t d = draft_size(); d-- > 0;) {
            const std::int32_t t = draft_to_target_[d];
            if (t == none)
                continue;
            ++shared_;
            if (!below(t, target_size()))
                fail("id_map", "draft_to_target", "expected target ids");
            const std::int32_t canonical = target_to_draft_[static_cast<std::size_t>(t)];
            if (canonical == none)
                fail("id_map", "target_to_draft",
                     "expected a draft id for every target id mapped to");
            if (canonical == static_cast<std::int32_t>(d))
                continue;
            // Descending d, each put behind the canonical id: the chain ascends.
            std::int32_t& head = next_[static_cast<std::size_t>(canonical)];
            next_[d] = head;
            head = static_cast<std::int32_t>(d);
        }
    }

    /// Equal vocabularies: id i is id i, as far as both reach (one may be padded).
    [[nodiscard]] static id_map identity(std::size_t draft_size, std::size_t target_size,
                                         std::uint64_t draft_fingerprint = 0,
                                         std::uint64_t target_fingerprint = 0) {
        std::vector<std::int32_t> forward(draft_size, none);
        std::vector<std::int32_t> back(target_size, none);
        for (std::size_t i = 0; i < draft_size && i < target_size; ++i)
            forward[i] = back[i] = static_cast<std::int32_t>(i);
        return {std::move(forward), std::move(back), draft_fingerprint, target_fingerprint};
    }

    [[nodiscard]] std::size_t draft_size() const { return draft_to_target_.size(); }
    [[nodiscard]] std::size_t target_size() const { return target_to_draft_.size(); }

    /// Number of draft ids that have a target id.
    [[nodiscard]] std::size_t shared() const { return shared_; }
    /// Number of target ids that have a draft id; at most shared(), less by the duplicates.
    [[nodiscard]] std::size_t shared_targets() const { return shared_targets_; }

    /// The target id of a draft id, or an invalid id.
    [[nodiscard]] target_id to_target(draft_id d) const {
        return target_id{below(d.value, draft_size()) ? draft_to_target_[d.index()] : none};
    }
    /// The canonical draft id of a target id, or an invalid id.
    [[nodiscard]] draft_id to_draft(target_id t) const {
        return draft_id{below(t.value, target_size()) ? target_to_draft_[t.index()] : none};
    }
    /// The next draft id with the same target id, or an invalid id.
    [[nodiscard]] draft_id next_duplicate(draft_id d) const {
        return draft_id{below(d.value, draft_size()) ? next_[d.index()] : none};
    }

    /// The flat tables, -1 for "none": what a device kernel takes. They live as long as the map.
    [[nodiscard]] std::span<const std::int32_t> draft_to_target() const { return draft_to_target_; }
    [[nodiscard]] std::span<const std::int32_t> target_to_draft() const { return target_to_draft_; }

    /// Fingerprints of the vocabularies that the map was built from; 0: unknown.
    [[nodiscard]] std::uint64_t draft_fingerprint() const { return draft_fingerprint_; }
    [[nodiscard]] std::uint64_t target_fingerprint() const { return target_fingerprint_; }

    /// Copies a row of draft logits with -infinity outside the intersection, so that its softmax is
    /// the renormalised q' of Algorithm 4. Pre: out.size() == row.size(). Shapes: [draft_size()],
    /// or longer by padding rows, which become -infinity. The table itself is the mask (four bytes
    /// an id, as a bias row would be), so NaN and infinities outside the intersection do no harm.
    void restrict_to_shared(std::span<const float> row, std::span<float> out) const {
        SPECDEC_PRECONDITION(out.size() == row.size());
        constexpr float forbidden = -builtin::infinity;
        const std::size_t known = row.size() < draft_size() ? row.size() : draft_size();
        const std::int32_t* const mask = draft_to_target_.data();
        const float* const from = row.data();
        float* const to = out.data();
        for (std::size_t i = 0; i < known; ++i)
            to[i] = mask[i] >= 0 ? from[i] : forbidden;
        for (std::size_t i = known; i < row.size(); ++i)
            to[i] = forbidden;
    }

private:
    static constexpr std::int32_t none = -1;

    static bool below(std::int32_t id, std::size_t size) {
        return id >= 0 && static_cast<std::size_t>(id) < size;
    }

    std::vector<std::int32_t> draft_to_target_; // [draft_size]
    std::vector<std::int32_t> target_to_draft_; // [target_size] canonical draft id
    std::vector<std::int32_t> next_;            // [draft_size] chain of duplicates
    std::size_t shared_ = 0;
    std::size_t shared_targets_ = 0;
    std::uint64_t draft_fingerprint_ = 0;
    std::uint64_t target_fingerprint_ = 0;
};

} // namespace specdec
