// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/token_id.hpp>
#include <specdec/process/row_processor.hpp>
#include <specdec/process/token_bias.hpp>
#include <specdec/speculation/any/any_grammar.hpp>
#include <specdec/speculation/any/any_row_processor.hpp>
#include <specdec/speculation/any/any_tokenizer.hpp>
#include <specdec/speculation/shared_tables.hpp>
#include <specdec/speculation/text.hpp>
#include <specdec/vocab/table/id_map.hpp>

/// What text_request::grammar means for a sequence.
namespace specdec {

/// The text that the request's grammar forces, if it has one.
[[nodiscard]] inline any_forced_text forced_text_of(const text_request& request,
                                                    const any_tokenizer<target_id>& words) {
    if (!request.grammar.active())
        return {};
    std::size_t prompt = 0;
    for (const target_id t : request.prompt)
        prompt += count_text_bytes(words.bytes(t));
    return request.grammar.forced(prompt);
}

/// The request, where its processors on both sides are followed by masks of its grammar, unless it
/// has none or says that the masks are not wanted. ends: the tokens that end the text; pieces and
/// map: null without a drafter. Borrows tokenizers and tables.
[[nodiscard]] inline text_request with_masks(text_request request,
                                             const any_tokenizer<target_id>& words,
                                             std::span<const target_id> ends,
                                             const any_tokenizer<draft_id>* pieces,
                                             const id_map* map, shared_tables& tables) {
    if (!request.grammar.active() || !request.grammar_masks)
        return request;
    std::size_t prompt = 0;
    for (const target_id t : request.prompt)
        prompt += words.bytes(t).size();
    request.process =
        chain(std::move(request.process),
              request.grammar.mask(words, tables.word_order(), prompt, {ends.begin(), ends.end()}));
    if (pieces != nullptr)
        request.process_draft =
            chain(std::move(request.process_draft),
                  request.grammar.mask(*pieces, tables.order(), prompt, mirrored(ends, *map)));
    return request;
}

} // namespace specdec
