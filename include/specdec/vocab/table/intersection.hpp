// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility> // std::move
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <specdec/core/concepts.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/table/equivalences.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

namespace detail {

/// Ids of a table, hashed and compared as the bytes of their tokens: four bytes an entry (a map
/// from views would hold 24), so that the set of a large vocabulary stays in the cache.
struct hash_of_bytes {
    using is_transparent = void;
    const vocabulary* table;
    std::size_t operator()(std::string_view bytes) const {
        return boost::hash<std::string_view>{}(bytes);
    }
    std::size_t operator()(std::int32_t id) const {
        return (*this)(table->entry(static_cast<std::size_t>(id)));
    }
};
struct equal_bytes {
    using is_transparent = void;
    const vocabulary* table;
    bool operator()(std::int32_t id, std::string_view bytes) const {
        return table->entry(static_cast<std::size_t>(id)) == bytes;
    }
    bool operator()(std::string_view bytes, std::int32_t id) const { return (*this)(id, bytes); }
    bool operator()(std::int32_t a, std::int32_t b) const {
        return (*this)(a, table->entry(static_cast<std::size_t>(b)));
    }
};
using ids_by_bytes = boost::unordered_flat_set<std::int32_t, hash_of_bytes, equal_bytes>;

} // namespace detail

/// The intersection of two vocabularies (T and D of Timor et al., Algorithms 1 and 4) by the exact
/// BYTES of their text tokens. Byte-level BPE and SentencePiece spell the same bytes differently in
/// their files (U+0120 against U+2581, a mojibake pair against one letter, <0x0A> against U+010A);
/// joins on those displayed strings miss such pairs and make false ones
/// (examples/papers/string_join.hpp counts both).
///
/// - Text tokens are those of kind normal, byte and user. Control and unused ids have no bytes;
///   only the equivalences join them, and they override the join by bytes.
/// - Of target ids with equal bytes the partner is the lowest that is not of kind byte, because
///   the target's own tokenizer writes it (<0x41> is written only where there is no A). The others
///   have no draft id: the drafter could not tell them apart.
/// - Draft ids with equal bytes all map; the same rule chooses the canonical one. An
///   equivalence's draft id is canonical before any other.
///
/// Errors: those of equivalences::resolve. Complexity: one hash of every text token; at 150,000 ids
/// a side at most 15 ms (bench/vocab/intersection.cpp). Nothing of the vocabularies is kept.
[[nodiscard]] inline id_map intersect(const vocabulary& draft, const vocabulary& target,
                                      const equivalences& equal = {}) {
    constexpr std::int32_t none = -1;
    const auto of_kind_byte = [](const vocabulary& table, std::int32_t id) {
        return table.kind(static_cast<std::size_t>(id)) == token_kind::byte;
    };

    detail::ids_by_bytes partner(0, {&target}, {&target});
    partner.reserve(target.size());
    for (const bool byte_tokens :
         {false, true}) // these last: no id of another kind gives way to them
        for (std::size_t t = 0; t < target.size(); ++t)
            if ((target.kind(t) == token_kind::byte) == byte_tokens && !target.text(t).empty())
                partner.insert(static_cast<std::int32_t>(t));

    std::vector<std::int32_t> to_target(draft.size(), none);
    for (std::size_t d = 0; d < draft.size(); ++d) {
        const std::string_view bytes = draft.text(d);
        if (bytes.empty())
            continue;
        const auto found = partner.find(bytes);
        if (found != partner.end())
            to_target[d] = *found;
    }
    const auto equal_ids = equal.resolve(draft, target);
    for (const auto& [d, t] : equal_ids)
        to_target[d.index()] = t.value;

    std::vector<std::int32_t> to_draft(target.size(), none);
    for (std::size_t d = 0; d < draft.size(); ++d) {
        if (to_target[d] == none)
            continue;
        std::int32_t& canonical = to_draft[static_cast<std::size_t>(to_target[d])];
        const auto id = static_cast<std::int32_t>(d);
        if (canonical == none || (of_kind_byte(draft, canonical) && !of_kind_byte(draft, id)))
            canonical = id;
    }
    // Of several draft tokens that are said to equal one target token, the first named is
    // canonical.
    for (std::size_t i = equal_ids.size(); i-- > 0;)
        to_draft[equal_ids[i].target.index()] = equal_ids[i].draft.value;
    return {std::move(to_target), std::move(to_draft), draft.fingerprint(), target.fingerprint()};
}

/// The same from tokenizers, whose types know whose they are: swapped arguments do not compile.
/// (Swapped tables do: every bridge then refuses the map, see require_map.)
template <TokenizerOf<draft_id> DraftTokenizer, TokenizerOf<target_id> TargetTokenizer>
    requires requires(const DraftTokenizer& draft, const TargetTokenizer& target) {
        { draft.table() } -> std::convertible_to<const vocabulary&>;
        { target.table() } -> std::convertible_to<const vocabulary&>;
    }
[[nodiscard]] id_map intersect(const DraftTokenizer& draft, const TargetTokenizer& target,
                               const equivalences& equal = {}) {
    return intersect(draft.table(), target.table(), equal);
}

} // namespace specdec
