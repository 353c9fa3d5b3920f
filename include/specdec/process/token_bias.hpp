// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/vocab/table/id_map.hpp>

/// Processors that add a number to some logits, and their mirror images on the drafter's side.
namespace specdec {

/// A token and what its logit is raised by; -infinity forbids the token.
template <class Id>
struct token_bias {
    Id id;
    float bias = 0;
};

/// Adds biases (OpenAI's logit_bias). Models RowProcessor<Id>. Complexity: linear in the biases.
template <class Id>
class logit_bias {
public:
    /// Errors: specdec::error for ids outside the vocabulary, NaN and +infinity.
    logit_bias(std::size_t vocabulary, std::vector<token_bias<Id>> biases)
        : biases_(std::move(biases)) {
        for (const auto& [id, bias] : biases_) {
            require_ids(std::span(&id, 1), vocabulary, "logit bias", "ids");
            if (!(bias < builtin::infinity))
                fail("logit bias", "bias", "expected a finite number or -infinity");
        }
    }

    [[nodiscard]] std::span<const token_bias<Id>> biases() const { return biases_; }

    void operator()(std::span<const Id>, std::span<float> row) const {
        for (const auto& [id, bias] : biases_)
            if (id.index() < row.size())
                row[id.index()] += bias;
    }

private:
    std::vector<token_bias<Id>> biases_;
};

/// Forbids tokens, at every place.
template <class Id>
[[nodiscard]] logit_bias<Id> banned_tokens(std::size_t vocabulary, std::span<const Id> ids) {
    std::vector<token_bias<Id>> biases;
    for (const Id id : ids)
        biases.push_back({id, -builtin::infinity});
    return {vocabulary, std::move(biases)};
}

/// The draft tokens with the same bytes as these target tokens. Tokens that the drafter lacks are
/// left out.
[[nodiscard]] inline std::vector<draft_id> mirrored(std::span<const target_id> ids,
                                                    const id_map& map) {
    std::vector<draft_id> found;
    for (const target_id t : ids)
        for (draft_id d = map.to_draft(t); d.valid(); d = map.next_duplicate(d))
            found.push_back(d);
    return found;
}

/// The same bias for the drafter, by bytes: it then proposes less of what p makes unlikely.
[[nodiscard]] inline logit_bias<draft_id> mirrored(const logit_bias<target_id>& bias,
                                                   const id_map& map) {
    std::vector<token_bias<draft_id>> found;
    for (const auto& [id, amount] : bias.biases())
        for (const draft_id d : mirrored(std::span(&id, 1), map))
            found.push_back({d, amount});
    return {map.draft_size(), std::move(found)};
}

/// Forbids the tokens that end a text until the text has `least` tokens behind its prompt. Models
/// RowProcessor<Id>.
template <class Id>
class minimum_length {
public:
    minimum_length(std::vector<Id> end_ids, std::size_t prompt, std::size_t least)
        : end_ids_(std::move(end_ids)), prompt_(prompt), least_(least) {}

    void operator()(std::span<const Id> tokens, std::span<float> row) const {
        if (tokens.size() >= prompt_ && tokens.size() - prompt_ >= least_)
            return;
        for (const Id id : end_ids_)
            if (id.index() < row.size())
                row[id.index()] = -builtin::infinity;
    }

private:
    std::vector<Id> end_ids_;
    std::size_t prompt_, least_;
};

} // namespace specdec
