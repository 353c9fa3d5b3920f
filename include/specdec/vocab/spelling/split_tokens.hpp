// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility> // std::move
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <specdec/core/concepts.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/spelling/pieces.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/token_bytes.hpp>

namespace specdec {

namespace detail {

/// Strings over the target's tokens with given bytes, of the fewest tokens.
template <class TargetTokenizer>
class fewest_pieces {
public:
    fewest_pieces(const TargetTokenizer& target, const id_map& map) {
        const std::size_t known = map.target_size() < target.vocabulary_size()
                                      ? map.target_size()
                                      : target.vocabulary_size();
        ids_.reserve(known);
        for (std::size_t i = 0; i < known; ++i) {
            const auto t = id_at<target_id>(i);
            const std::string_view bytes = target.bytes(t);
            if (bytes.empty())
                continue;
            longest_ = bytes.size() > longest_ ? bytes.size() : longest_;
            const auto [at, fresh] = ids_.try_emplace(bytes, t);
            if (!fresh && map.to_draft(t).valid()) // the one that the target's tokenizer writes
                at->second = t;
        }
    }

    /// Appends the tokens to `out`; false if there are none. Of several shortest strings that whose
    /// first token is longest, then its second. Complexity: a look-up for every part of the bytes
    /// that may be a token.
    bool split(std::string_view bytes, std::vector<target_id>& out) {
        best_.assign(bytes.size() + 1, {});
        best_[bytes.size()].count = 0;
        for (std::size_t i = bytes.size(); i-- > 0;)
            for (std::size_t n = 1; n <= longest_ && i + n <= bytes.size(); ++n) {
                const std::size_t behind = best_[i + n].count;
                if (behind == none || behind + 1 > best_[i].count)
                    continue;
                if (const auto found = ids_.find(bytes.substr(i, n)); found != ids_.end())
                    best_[i] = {behind + 1, n, found->second};
            }
        if (best_[0].count == none)
            return false;
        for (std::size_t i = 0; i < bytes.size(); i += best_[i].size)
            out.push_back(best_[i].id);
        return true;
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};
    struct step {
        std::size_t count = none; ///< tokens from here to the end
        std::size_t size = 0;     ///< bytes of the first of them
        target_id id{};
    };

    boost::unordered_flat_map<std::string_view, target_id> ids_;
    std::size_t longest_ = 0;
    std::vector<step> best_;
};

} // namespace detail

/// The pieces of every draft token (ours):
///
/// - a token that the map shares is its target token;
/// - another text token is what the target's own tokenizer writes for its bytes in a continuation,
///   since that is where the target has its mass; if that does not give back the exact bytes (it
///   normalises, or a character is cut), the fewest target tokens that do;
/// - any other (the target lacks a byte; a control token without equivalent) has no pieces, and
///   nested TLI never draws it.
///
/// Errors: those of the tokenizer. Complexity: an encode of every draft token that is not shared.
/// Allocates; keeps nothing of the tokenizers.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
[[nodiscard]] token_pieces split_tokens(const TargetTokenizer& target, const DraftTokenizer& draft,
                                        const id_map& map) {
    detail::fewest_pieces<TargetTokenizer> fewest(target, map);
    std::vector<std::uint32_t> ends;
    std::vector<target_id> pieces, own;
    const auto exact = [&](std::string_view bytes) {
        for (const target_id t : own)
            if (t.index() >= map.target_size() || target.bytes(t).empty())
                return false;
        return bytes_equal(target, own, bytes);
    };
    for (std::size_t i = 0; i < map.draft_size(); ++i) {
        const auto d = id_at<draft_id>(i);
        const std::string_view bytes =
            i < draft.vocabulary_size() ? draft.bytes(d) : std::string_view{};
        if (const target_id t = map.to_target(d); t.valid()) {
            pieces.push_back(t);
        } else if (!bytes.empty()) {
            own.clear();
            target.encode(bytes, encode_mode::continuation, own);
            if (!exact(bytes)) {
                own.clear();
                fewest.split(bytes, own);
            }
            pieces.insert(pieces.end(), own.begin(), own.end());
        }
        ends.push_back(static_cast<std::uint32_t>(pieces.size()));
    }
    return {map, std::move(ends), std::move(pieces)};
}

} // namespace specdec
