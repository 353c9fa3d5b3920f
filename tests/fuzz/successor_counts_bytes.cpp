// SPDX-License-Identifier: MIT
// Any bytes, as they are and under a right checksum: saved counts are a specdec::error or counts
// that can be used, and that are the same when they are saved and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib> // std::abort
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/draft/counted/successor_counts_bytes.hpp>

namespace {

using namespace specdec;

void check(std::string_view bytes) {
    constexpr std::size_t vocabulary = 300;
    // Whoever names a size is given it: tables of gigabytes are for those who have them.
    constexpr std::size_t size_at = 15 + 4 + 8 + 2;
    for (std::size_t i = size_at; i < size_at + 6 && i < bytes.size(); ++i)
        if (bytes[i] != 0)
            return;
    const std::string source = "fuzz";
    try {
        auto counts = successor_counts_codec::read(bytes, source, 1, vocabulary);
        const std::string written = successor_counts_codec::write(counts, 1);
        if (successor_counts_codec::write(
                successor_counts_codec::read(written, source, 1, vocabulary), 1) != written)
            std::abort();
        std::vector<draft_id> text;
        for (std::size_t i = 0; i < 40; ++i) {
            const auto seen = counts.find(text);
            for (const auto& s : seen.successors)
                if (s.weight > 0 && s.id.index() >= vocabulary)
                    std::abort();
            text.push_back(id_at<draft_id>(i * 7 % 11));
            counts.learn(text, draft_id{3});
        }
    } catch (const error&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    check(bytes);
    if (size < 8)
        return 0;
    bytes.resize(size - 8);
    put_number(bytes, checksum_of(bytes));
    check(bytes);
    return 0;
}
