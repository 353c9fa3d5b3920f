// SPDX-License-Identifier: MIT
// Any bytes: parse_token_list gives ascending ids of the vocabulary or a specdec::error.
#include <cstdint>

#include <specdec_engine/drafter/token_list_file.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto list = specdec::engine::parse_token_list<specdec::draft_id>(
            std::as_bytes(std::span(data, size)), 16, "fuzz");
        if (list.size() == 0 || list.size() > 16)
            __builtin_trap();
    } catch (const specdec::error&) {
    }
    return 0;
}
