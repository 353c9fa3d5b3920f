// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <specdec/core/token_id.hpp>
#include <specdec/draft/counted/successor_counts.hpp>
#include <specdec/vocab/table/saved_bytes.hpp>

namespace specdec {

/// The bytes of saved counts, version 1, all numbers little-endian:
///
///     magic "specdec counts\n", version u32, fingerprint of the drafter's vocabulary u64,
///     entries u64, n-grams u64
///     for every n-gram, by place: place u32, the bits that tell it apart u32, and of each of its 4
///     successors the token u32 and its weight as a float's bits u32
///     checksum u64 of all bytes before it
///
/// Counts that were read answer and learn as those that were written.
struct successor_counts_codec {
    static constexpr std::string_view magic = "specdec counts\n";
    static constexpr std::uint32_t version = 1;

    /// Complexity: linear. Errors: std::bad_alloc.
    [[nodiscard]] static std::string write(const successor_counts& counts,
                                           std::uint64_t fingerprint) {
        std::uint64_t held = 0;
        for (const auto& e : counts.entries_)
            held += e.weight() > 0 ? 1U : 0U;
        std::string out(magic);
        put_number(out, version);
        for (const std::uint64_t field : {fingerprint, std::uint64_t{counts.entries_.size()}, held})
            put_number(out, field);
        for (std::size_t i = 0; i < counts.entries_.size(); ++i) {
            const auto& e = counts.entries_[i];
            if (!(e.weight() > 0))
                continue;
            put_number(out, static_cast<std::uint32_t>(i));
            put_number(out, e.check);
            for (const successor_counts::successor& s : e.successors) {
                put_number(out, s.id.value);
                put_number(out, std::bit_cast<std::uint32_t>(s.weight));
            }
        }
        put_number(out, checksum_of(out));
        return out;
    }

    /// Takes any bytes. most: entries of which memory is taken, whatever few bytes ask for; counts
    /// of more are refused. Errors: specdec::error that names `source`, the field and what was
    /// expected there; for counts of another vocabulary, too, by its fingerprint or by tokens that
    /// it does not have. Complexity: linear.
    [[nodiscard]] static successor_counts
    read(std::string_view bytes, const std::string& source, std::uint64_t fingerprint,
         std::size_t vocabulary, std::size_t most = successor_counts::default_entries) {
        saved_bytes in(bytes, source, magic, version, "saved counts");
        in.expect(in.get<std::uint64_t>("fingerprint") == fingerprint, "fingerprint",
                  "expected the drafter's vocabulary, the counts are of another");
        const std::uint64_t entries = in.at_most(most, "entries");
        in.expect(entries >= 16 && std::has_single_bit(entries), "entries",
                  "expected a power of two from 16 on");
        successor_counts counts(static_cast<std::size_t>(entries));
        const std::uint64_t fit = in.left() / bytes_of_one;
        std::uint64_t left = in.at_most(fit < entries ? fit : entries, "number of n-grams");
        for (std::uint64_t least = 0; left > 0; --left) {
            const std::uint64_t place = in.get<std::uint32_t>("place");
            in.expect(place >= least && place < entries, "place",
                      "expected every number below that of the entries once, ascending");
            least = place + 1;
            auto& e = counts.entries_[static_cast<std::size_t>(place)];
            e.check = in.get<std::uint32_t>("check");
            for (successor_counts::successor& s : e.successors) {
                s.id = draft_id{static_cast<std::int32_t>(in.get<std::uint32_t>("token"))};
                s.weight = std::bit_cast<float>(in.get<std::uint32_t>("weight"));
                in.expect(s.weight >= 0 && s.weight <= 5, "weight", "expected 0 to 5");
                in.expect(s.weight > 0 ? s.id.valid() && s.id.index() < vocabulary
                                       : s.id.value >= -1,
                          "token", "expected a token of the vocabulary");
            }
            in.expect(e.weight() > 0, "weight", "expected a successor of some weight");
        }
        in.expect(in.left() == 0, "end", "expected nothing after the last n-gram");
        return counts;
    }

private:
    static constexpr std::uint64_t bytes_of_one = 8 + 8 * successor_counts::width;
};

} // namespace specdec
