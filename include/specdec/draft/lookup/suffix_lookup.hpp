// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <specdec/draft/lookup/byte_index.hpp>
#include <specdec/draft/lookup/following_bytes.hpp>
#include <specdec/draft/lookup/lookup_hit.hpp>

namespace specdec {

/// Text that follows most often where the end of the text stood before: the last places that share
/// its last 8 bytes vote byte by byte, with the cube of the bytes that they share, and those that
/// are outvoted leave. A long repetition is followed as long as it lasts; where the text has just
/// left it (a word was put in the place of another), the place where it seems to go on votes, too.
///
///     w_c = m_c^3,   b_i = argmax over b of the sum of w_c, c with byte b at i
///     chance_i = (share of b_i) * repeat_chance(m + i),   m the longest of those for b_i
///
/// Paper: SuffixDecoding (NeurIPS 2025), which counts in suffix trees; its score is
/// lookup_hit::expected(). Here the last places are counted in a chained byte_index: a fraction of
/// the memory, and the text of long ago has no vote.
/// Index: byte_index for one text, which start() clears; byte_index& for all texts that borrow it.
/// Models TextLookup. Complexity: find O(places (64 + bytes)) at most, follow O(1) a byte and
/// O(places) a call. Allocates at construction only.
template <class Index>
    requires std::is_same_v<std::remove_reference_t<Index>, byte_index>
class suffix_lookup {
public:
    explicit suffix_lookup(Index index, std::size_t places = most_places)
        : index_(std::forward<Index>(index)), places_(places < most_places ? places : most_places),
          text_(index_.begin()) {}

    void start() {
        if constexpr (!std::is_reference_v<Index>)
            index_.clear();
        text_ = index_.begin();
        followed_ = byte_index::nowhere;
        lost_ = 0;
    }

    void follow(std::string_view bytes) {
        for (const char byte : bytes)
            keep_up(byte);
        index_.append(text_, bytes);
        if (followed_ == byte_index::nowhere || lost_ > 0)
            look_for_repetition();
    }

    void find(std::size_t most, lookup_hit& out) {
        out.clear();
        collect(out);
        double reached = 1;
        while (reached >= least_chance && out.bytes.size() < most && vote(out))
            reached *= static_cast<double>(out.chances.back());
    }

private:
    static constexpr std::size_t most_places = 12;
    static constexpr std::size_t repetition = 12;  // bytes shared that are worth to be followed
    static constexpr std::size_t alignment = 192;  // bytes behind the place where one was left
    static constexpr std::size_t least_shared = 3; // bytes of a place there
    static constexpr std::size_t aligned = 12;     // bytes that being there is worth

    struct candidate {
        following_bytes next;
        std::size_t match = 0;
        double weight = 0;
    };
    struct resumed {
        byte_index::place place = byte_index::nowhere;
        std::size_t match = 0;
    };

    /// The text goes on: so does the place that it repeats.
    void keep_up(char byte) {
        if (followed_ == byte_index::nowhere)
            return;
        byte_index::place p = followed_;
        if (lost_ == 0 && index_.next(p) && index_.at(p) == byte)
            followed_ = p;
        else if (++lost_ > alignment)
            followed_ = byte_index::nowhere;
    }

    void look_for_repetition() {
        resumed best;
        index_.each(text_, few, [&](byte_index::place p, std::size_t match) {
            if (match > best.match)
                best = {p, match};
            return match < byte_index::longest;
        });
        if (const resumed again = behind_lost(); again.match + aligned > best.match)
            best = {again.place, again.match == 0 ? 0 : again.match + aligned - least_shared};
        if (best.match >= repetition) {
            followed_ = best.place;
            lost_ = 0;
        }
    }

    /// Where the repetition that was left seems to go on.
    [[nodiscard]] resumed behind_lost() const {
        resumed best;
        if (followed_ == byte_index::nowhere)
            return best;
        const std::string_view tail = text_.tail();
        byte_index::place p = followed_;
        for (std::size_t i = 0; i < alignment && index_.next(p) && p != text_.last(); ++i)
            if (index_.at(p) == tail.back())
                if (const std::size_t n = index_.match(tail, p);
                    n >= least_shared && n > best.match)
                    best = {p, n};
        return best;
    }

    void collect(lookup_hit& out) {
        size_ = 0;
        bool held = false;
        std::size_t many = 0; // that share much
        const auto add = [&](byte_index::place p, std::size_t match) {
            const auto m = static_cast<double>(match);
            candidates_[size_++] = {following_bytes(p), match, m * m * m};
            out.match = match > out.match ? match : out.match;
        };
        index_.each(text_, places_, [&](byte_index::place p, std::size_t match) {
            add(p, match);
            held = held || p == followed_;
            many += match >= much ? 1 : 0;
            return many < enough;
        });
        if (followed_ != byte_index::nowhere && !held && lost_ == 0)
            add(followed_, index_.match(text_.tail(), followed_));
    }

    /// The next byte that is expected; false: none is.
    bool vote(lookup_hit& out) {
        double total = 0, most = 0;
        char winner = no_text;
        leave([&](candidate& c) { return c.next.advance(index_, text_.last(), out.bytes); });
        for (std::size_t i = 0; i < size_; ++i)
            sum_of(candidates_[i]) = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            total += candidates_[i].weight;
            if (const double sum = sum_of(candidates_[i]) += candidates_[i].weight; sum > most) {
                most = sum;
                winner = candidates_[i].next.byte();
            }
        }
        if (winner == no_text)
            return false;
        std::size_t match = 0;
        leave([&](const candidate& c) {
            const bool stays = c.next.byte() == winner;
            match = stays && c.match > match ? c.match : match;
            return stays;
        });
        out.push(winner, most / total * repeat_chance(match + out.bytes.size()));
        return true;
    }

    /// All candidates leave but those that stay.
    template <class Stays>
    void leave(const Stays& stays) {
        std::size_t left = 0;
        for (std::size_t i = 0; i < size_; ++i)
            if (stays(candidates_[i])) {
                if (left != i)
                    candidates_[left] = candidates_[i];
                ++left;
            }
        size_ = left;
    }
    double& sum_of(const candidate& c) { return sums_[static_cast<unsigned char>(c.next.byte())]; }

    static constexpr std::size_t few = 4;               // places where a repetition is looked for
    static constexpr std::size_t enough = 4, much = 32; // places that share so many bytes

    Index index_;
    std::size_t places_;
    byte_index::writer text_;
    byte_index::place followed_ = byte_index::nowhere; // that the text repeats, or has left
    std::size_t lost_ = 0;                             // bytes ago
    std::array<candidate, most_places + 2> candidates_{};
    std::size_t size_ = 0;
    std::array<double, 256> sums_{}; // of weights, by byte
};

/// Of one text, whose last bytes it remembers, so many.
[[nodiscard]] inline suffix_lookup<byte_index> own_suffixes(std::size_t bytes) {
    return suffix_lookup<byte_index>(byte_index({.bytes = bytes}));
}
/// Of all texts that borrow the index.
[[nodiscard]] inline suffix_lookup<byte_index&> shared_suffixes(byte_index& index) {
    return suffix_lookup<byte_index&>(index);
}
static_assert(TextLookup<suffix_lookup<byte_index>> && TextLookup<suffix_lookup<byte_index&>>);

} // namespace specdec
