// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/basic/first_where.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// Some tokens of a vocabulary, in ascending order, each once: what a trimmed head keeps.
/// Immutable. Memory: 4 bytes a token of the list. Errors: specdec::error that names `source`, for
/// an empty list and for ids that do not ascend or are outside the vocabulary.
template <class Id>
class token_list {
public:
    token_list(std::vector<Id> ids, std::size_t vocabulary,
               const std::string& source = "token list")
        : ids_(std::move(ids)), vocabulary_(vocabulary) {
        if (ids_.empty())
            fail(source, "ids", "expected at least one");
        Id before{};
        for (const Id id : ids_) {
            if (!id.valid() || id.index() >= vocabulary || !(before < id))
                fail(source, "id " + std::to_string(id.value),
                     "expected ids from 0 to " + std::to_string(vocabulary) +
                         " - 1 that ascend, each once; before it stands " +
                         (before.valid() ? std::to_string(before.value) : "nothing"));
            before = id;
        }
    }

    [[nodiscard]] std::size_t size() const { return ids_.size(); }
    /// The number of ids that the list was chosen from.
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }
    /// O(log n).
    [[nodiscard]] bool contains(Id id) const {
        const std::size_t at =
            first_where(std::size_t{0}, ids_.size(), [&](std::size_t k) { return ids_[k] >= id; });
        return at < ids_.size() && ids_[at] == id;
    }

    friend bool operator==(const token_list&, const token_list&) = default;

private:
    std::vector<Id> ids_;
    std::size_t vocabulary_;
};

/// All tokens of a vocabulary. Precondition: vocabulary > 0.
template <class Id>
[[nodiscard]] token_list<Id> every_token(std::size_t vocabulary) {
    std::vector<Id> ids;
    ids.reserve(vocabulary);
    for (std::size_t i = 0; i < vocabulary; ++i)
        ids.push_back(id_at<Id>(i));
    return {std::move(ids), vocabulary};
}

} // namespace specdec
