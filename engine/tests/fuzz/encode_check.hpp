// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdlib> // std::abort
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/tokenizer/tokenizer.hpp>

/// Loads with `load()` and, where that succeeds, encodes a fixed text: every id must be one of the
/// vocabulary, and bytes(id) must be readable. Only specdec::error may escape from either.
template <class Load>
void check_encoding(const Load& load) {
    static const std::string text = "Hello  world, <s>it's 123\r\n\n caf\xC3\xA9 e\xCC\x81 "
                                    "\xE2\x96\x81x \xF0\x9F\x98\x80\xFF\xC3 "
                                    "<|im_end|> aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    try {
        const specdec::engine::tokenizer t = load();
        for (const auto where : {specdec::encode_mode::start, specdec::encode_mode::continuation}) {
            std::vector<std::int32_t> ids;
            t.encode(text, where, ids);
            t.encode_with_control(text, where, ids);
            std::string back;
            for (const std::int32_t id : ids) {
                if (id < 0 || static_cast<std::size_t>(id) >= t.vocabulary_size())
                    std::abort();
                back += t.bytes(id);
            }
        }
    } catch (const specdec::error&) {
    }
}
