// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility> // std::move
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// Tokens that mean the same in two vocabularies though they are spelt differently, or are no text
/// at all: the drafter's end of turn is the target's end of turn. Without such a table a drafter of
/// another family can never propose the end of a turn. Given by the caller, by name or by id:
///
///     equivalences e;
///     e.add("</s>", "<|im_end|>");
///     e.add(draft_id{1}, target_id{151644});
///     const id_map map = intersect(draft, target, e);
///
/// A plain value, independent of any vocabulary until resolve().
class equivalences {
public:
    /// One token of one vocabulary: a name as the vocabulary prints it, or an id.
    template <class Id>
    class token {
    public:
        token(Id id) : id_(id), has_name_(false) {}
        token(const char* name) : name_(name) {}
        token(std::string_view name) : name_(name) {}
        token(std::string name) : name_(std::move(name)) {}

        [[nodiscard]] bool has_name() const { return has_name_; }
        [[nodiscard]] Id id() const { return id_; }
        [[nodiscard]] const std::string& name() const { return name_; }

    private:
        Id id_;
        std::string name_;
        bool has_name_ = true;
    };

    struct id_pair {
        draft_id draft;
        target_id target;
    };

    void add(token<draft_id> draft, token<target_id> target) {
        pairs_.push_back({std::move(draft), std::move(target)});
    }
    [[nodiscard]] std::size_t size() const { return pairs_.size(); }

    /// The pairs as ids, in the order given. A name is looked for among the control tokens first,
    /// then among all others. Errors: an unknown or ambiguous name, an id outside its vocabulary, a
    /// draft token with two different partners. Complexity: pairs times vocabulary sizes.
    [[nodiscard]] std::vector<id_pair> resolve(const vocabulary& draft,
                                               const vocabulary& target) const {
        std::vector<id_pair> ids;
        for (const auto& [d, t] : pairs_) {
            const id_pair found{resolve(d, draft, "draft"), resolve(t, target, "target")};
            for (const id_pair& other : ids)
                if (other.draft == found.draft && other.target != found.target)
                    fail("equivalences", "draft token " + printed(d),
                         "expected one target token, not several");
            ids.push_back(found);
        }
        return ids;
    }

private:
    struct named_pair {
        token<draft_id> draft;
        token<target_id> target;
    };

    template <class Id>
    static std::string printed(const token<Id>& wanted) {
        return wanted.has_name() ? '"' + wanted.name() + '"' : std::to_string(wanted.id().value);
    }

    template <class Id>
    static Id resolve(const token<Id>& wanted, const vocabulary& table, const char* side) {
        const std::string field = std::string(side) + " token " + printed(wanted);
        if (!wanted.has_name()) {
            if (!wanted.id().valid() || wanted.id().index() >= table.size())
                fail("equivalences", field,
                     "expected an id from 0 on, below " + std::to_string(table.size()));
            return wanted.id();
        }
        for (const bool control : {true, false}) {
            Id found;
            for (std::size_t i = 0; i < table.size(); ++i) {
                if ((table.kind(i) == token_kind::control) != control)
                    continue;
                if (table.entry(i) != wanted.name() || wanted.name().empty()) // of unused ids
                    continue;
                if (found.valid())
                    fail("equivalences", field,
                         "expected a name given once, but ids " + std::to_string(found.value) +
                             " and " + std::to_string(i) + " have it; give the id");
                found = id_at<Id>(i);
            }
            if (found.valid())
                return found;
        }
        fail("equivalences", field,
             std::string("expected the name of a token of the ") + side + " vocabulary (" +
                 std::to_string(table.size()) + " ids)");
    }

    std::vector<named_pair> pairs_;
};

} // namespace specdec
