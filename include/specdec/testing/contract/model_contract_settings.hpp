// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// How check_model() looks at a model.
template <class Id>
struct model_contract_settings {
    /// The tokens to feed: at least 8, two different ones among them; what exceeds the capacity is
    /// left out. Empty: `length` ids, spread over the vocabulary by `seed`.
    std::vector<Id> ids{};
    std::size_t length = 24;
    std::uint64_t seed = 1;
    /// Greatest distance of log-probabilities that counts as equal. 0: bit for bit. Engines whose
    /// sums depend on how positions are grouped into calls need more.
    double tolerance = 0;
    std::size_t fill_at_most = 1024; ///< larger contexts are not filled: their limit is unchecked
    bool several_at_once = true;     ///< two models may exist at a time
    bool may_forbid_all = false;     ///< a row may consist of -infinity (a drafter's)
};

/// The tokens that a model under test is fed: at each position a right one, and a wrong one to be
/// rejected, which is another of the right tokens.
template <class Id>
struct contract_tokens {
    std::vector<Id> right{};
    std::vector<Id> wrong{}; ///< [right.size()]

    contract_tokens() = default;

    /// Errors: specdec::error for ids outside the vocabulary, fewer than 8, or all alike.
    contract_tokens(const model_contract_settings<Id>& settings, std::size_t vocabulary,
                    std::size_t capacity)
        : right(settings.ids) {
        for (std::uint64_t i = 0; settings.ids.empty() && i < settings.length; ++i) {
            const std::uint64_t h = (settings.seed * 1000003 + i + 1) * 0x9E3779B97F4A7C15U;
            right.push_back(id_at<Id>((h >> 32) % vocabulary));
        }
        if (right.size() > capacity)
            right.resize(capacity);
        const std::size_t n = right.size();
        if (n < 8)
            throw error("model contract", "ids", "expected 8 tokens or more, and room for them");
        for (const Id id : right)
            if (!id.valid() || id.index() >= vocabulary)
                throw error("model contract", "ids", "expected ids of the vocabulary");
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t j = i + 1;
            while (j < i + n && right[j % n] == right[i])
                ++j;
            if (j == i + n)
                throw error("model contract", "ids", "expected two different ids");
            wrong.push_back(right[j % n]);
        }
    }

    /// n of the right ones, over and over.
    [[nodiscard]] std::vector<Id> filling(std::size_t n) const {
        std::vector<Id> all(n);
        for (std::size_t i = 0; i < n; ++i)
            all[i] = right[i % right.size()];
        return all;
    }
};

/// A tree that a model under test is fed behind a context.
template <class Id>
struct contract_tree {
    std::vector<Id> context{}, ids{};
    std::vector<std::size_t> parents{}; ///< [ids.size()]

    /// Of n nodes; the parent of each is one of the last `reach` before it, or the root.
    contract_tree(const contract_tokens<Id>& tokens, std::vector<Id> behind, std::uint64_t seed,
                  std::size_t reach, std::size_t n)
        : context(std::move(behind)) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t h = (seed * 1000003 + i + 1) * 0x9E3779B97F4A7C15U;
            const std::size_t back = (h >> 32) % (reach < i + 1 ? reach : i + 1);
            parents.push_back(back == i ? tree_root : i - 1 - back);
            ids.push_back(tokens.right[(h >> 20) % tokens.right.size()]);
        }
    }

    [[nodiscard]] std::vector<std::size_t> path(std::size_t node) const {
        std::vector<std::size_t> up;
        for (; node != tree_root; node = parents[node])
            up.push_back(node);
        return {up.rbegin(), up.rend()};
    }
    [[nodiscard]] std::vector<Id> ids_of(const std::vector<std::size_t>& nodes) const {
        std::vector<Id> out;
        for (const std::size_t node : nodes)
            out.push_back(ids[node]);
        return out;
    }
};

} // namespace specdec
