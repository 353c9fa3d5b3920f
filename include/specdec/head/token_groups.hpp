// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/head/token_list.hpp>

namespace specdec {

/// The tokens of a vocabulary in groups, for a routed head. Groups are equal parts of the
/// vocabulary in the order of ids (CORAL, section 3.3), equal parts of a list, or any assignment,
/// such as tokens of like frequency. A token may be in no group. Immutable. Memory: 4 bytes a
/// token. Errors: specdec::error for no group, for an empty one, and for ids outside the
/// vocabulary.
template <class Id>
class token_groups {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// of[v]: the group of token v, 0 .. groups-1, or none.
    token_groups(std::span<const std::uint32_t> of, std::size_t groups)
        : vocabulary_(of.size()), begin_(groups + 1) {
        for (std::size_t v = 0; v < of.size(); ++v) {
            if (of[v] == none)
                continue;
            if (of[v] >= groups)
                fail("token groups", "token " + std::to_string(v),
                     "expected a group from 0 to " + std::to_string(groups) + " - 1, or none");
            ++begin_[of[v] + 1];
        }
        for (std::size_t g = 0; g < groups; ++g) {
            if (begin_[g + 1] == 0)
                fail("token groups", "group " + std::to_string(g), "expected at least one token");
            begin_[g + 1] += begin_[g];
        }
        if (groups == 0)
            fail("token groups", "groups", "expected at least one");
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
        ids_.resize(begin_.back());
        for (std::size_t v = 0; v < of.size(); ++v)
            if (of[v] != none)
                ids_[next[of[v]]++] = id_at<Id>(v);
    }

    /// Equal parts of the list, whose sizes differ by at most one.
    [[nodiscard]] static token_groups equal_parts(const token_list<Id>& of, std::size_t groups) {
        std::vector<std::uint32_t> group(of.vocabulary_size(), none);
        for (std::size_t k = 0; k < of.size(); ++k)
            group[of.ids()[k].index()] = static_cast<std::uint32_t>(k * groups / of.size());
        return {group, groups};
    }
    /// Equal parts of the whole vocabulary. Precondition: vocabulary > 0.
    [[nodiscard]] static token_groups equal_parts(std::size_t vocabulary, std::size_t groups) {
        return equal_parts(every_token<Id>(vocabulary), groups);
    }

    [[nodiscard]] std::size_t size() const { return begin_.size() - 1; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    /// The tokens of a group, ascending. Precondition: g < size().
    [[nodiscard]] std::span<const Id> operator[](std::size_t g) const {
        return std::span(ids_).subspan(begin_[g], begin_[g + 1] - begin_[g]);
    }
    /// The tokens of all groups, group after group; begin_of(g) is where group g begins.
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }
    [[nodiscard]] std::size_t begin_of(std::size_t g) const { return begin_[g]; }

private:
    std::size_t vocabulary_;
    std::vector<std::size_t> begin_; // [groups + 1] into ids_
    std::vector<Id> ids_;
};

} // namespace specdec
