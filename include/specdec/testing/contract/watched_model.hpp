// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility> // std::declval

#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/testing/contract/contract_report.hpp>

namespace specdec {

/// A model under test: makes the model, forwards calls to it and throws clause_broken, with the
/// call in words, where one throws, leaves another size() than it should or returns other rows.
/// Make returns a model, or a reference to one.
template <class Id, class Make>
class watched_model {
public:
    explicit watched_model(Make& make) : model_(make()) {}

    [[nodiscard]] std::size_t size() const { return model_.size(); }
    [[nodiscard]] std::size_t capacity() const { return model_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_.vocabulary_size(); }

    [[nodiscard]] std::span<const Id> held() const
        requires TellsHeld<decltype(std::declval<Make&>()()), Id>
    {
        return model_.held();
    }

    void append(std::span<const Id> ids) {
        const std::size_t before = size();
        const std::string call = in_words("append", ids.size(), before);
        attempt(call, [&] { model_.append(ids); });
        expect_size(before + ids.size(), call);
    }

    logits_rows<Id> score(std::span<const Id> ids) {
        const logits_rows<Id> rows = score_any_rows(ids);
        if (rows.size() != ids.size() || rows.vocabulary() != vocabulary_size())
            throw clause_broken{std::to_string(rows.size()) + " rows of " +
                                std::to_string(rows.vocabulary()) + " values from the score of " +
                                std::to_string(ids.size()) + " tokens, with vocabulary_size() " +
                                std::to_string(vocabulary_size())};
        return rows;
    }

    /// score, whatever its rows are.
    logits_rows<Id> score_any_rows(std::span<const Id> ids) {
        const std::size_t before = size();
        const std::string call = in_words("score", ids.size(), before);
        logits_rows<Id> rows;
        attempt(call, [&] { rows = model_.score(ids); });
        expect_size(before + ids.size(), call);
        return rows;
    }

    void truncate(std::size_t n) {
        const std::string call =
            "truncate(" + std::to_string(n) + ") of " + std::to_string(size()) + " tokens";
        attempt(call, [&] { model_.truncate(n); });
        expect_size(n, call);
    }

    void refuses_append(std::span<const Id> ids) {
        refuses("append", ids, [&] { model_.append(ids); });
    }
    void refuses_score(std::span<const Id> ids) {
        refuses("score", ids, [&] { (void)model_.score(ids); });
    }

    void expect_size(std::size_t n, const std::string& call) const {
        if (size() != n)
            throw clause_broken{"size() " + std::to_string(size()) + " instead of " +
                                std::to_string(n) + " after the " + call};
    }

private:
    static std::string in_words(const char* name, std::size_t n, std::size_t held) {
        return name + (" of " + std::to_string(n)) + " tokens after " + std::to_string(held);
    }

    template <class Call>
    static void attempt(const std::string& call, Call&& make_it) {
        try {
            make_it();
        } catch (...) {
            throw clause_broken{"the " + call + " threw " + handled_exception()};
        }
    }

    template <class Call>
    void refuses(const char* name, std::span<const Id> ids, Call&& make_it) {
        const std::string call = in_words(name, ids.size(), size());
        if (!throws(make_it))
            throw clause_broken{"no exception from the " + call + ", where capacity() is " +
                                std::to_string(capacity())};
    }

    decltype(std::declval<Make&>()()) model_;
};

} // namespace specdec
