// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <specdec/draft/lookup/byte_index.hpp>
#include <specdec/draft/lookup/following_bytes.hpp>
#include <specdec/draft/lookup/lookup_hit.hpp>

namespace specdec {

/// Prompt lookup: what followed where the longest end of the text stood before in the text itself,
/// the last time; the longest among the last `places` that share 8 bytes, else the last that shares
/// 4. Paper: prompt lookup decoding (Saxena 2023), here by bytes. Models TextLookup. Complexity:
/// find O(places + bytes), follow O(1) a byte. Allocates at construction only.
class prompt_lookup {
public:
    /// It remembers so many of the text's last bytes.
    explicit prompt_lookup(std::size_t bytes, std::size_t places = 24)
        : index_({.bytes = bytes}), places_(places), text_(index_.begin()) {}

    void start() {
        index_.clear();
        text_ = index_.begin();
    }
    void follow(std::string_view bytes) { index_.append(text_, bytes); }

    void find(std::size_t most, lookup_hit& out) const {
        out.clear();
        byte_index::place best = byte_index::nowhere;
        index_.each(text_, places_, [&](byte_index::place p, std::size_t match) {
            if (match > out.match) {
                out.match = match;
                best = p;
            }
            return match < byte_index::longest;
        });
        if (best == byte_index::nowhere)
            return;
        following_bytes next(best);
        for (double reached = 1; out.bytes.size() < most && reached >= least_chance;) {
            if (!next.advance(index_, text_.last(), out.bytes) || next.byte() == no_text)
                return;
            const double chance = repeat_chance(out.match + out.bytes.size());
            out.push(next.byte(), chance);
            reached *= chance;
        }
    }

    [[nodiscard]] const byte_index& index() const { return index_; }

private:
    byte_index index_;
    std::size_t places_;
    byte_index::writer text_;
};
static_assert(TextLookup<prompt_lookup>);

} // namespace specdec
