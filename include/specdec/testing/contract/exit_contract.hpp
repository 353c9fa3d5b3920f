// SPDX-License-Identifier: MIT
#pragma once

#include <cmath> // std::abs, std::isnan, std::isinf
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/rows.hpp>
#include <specdec/head/exits/exit_model.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

/// Does a model with exits keep what head/exits/exit_model.hpp asks for?
///
///     report = check_exits<draft_id>(make_model, {.tolerance = 1e-5});
///
///     exits.shape      at least one exit; a row of vocabulary_size() logits for each token asked
///     exits.context    an exit's rows are the same asked for at once or one by one, and whatever
///                      exits were asked for before, of the same tokens and of earlier ones
///     exits.truncated  they are the same after a truncation and other tokens
///     exits.depth      exits are different models
///     exits.full       holding more than the capacity throws and changes nothing
namespace specdec {

namespace exit_contract_detail {

using numbers = std::vector<float>;

template <class Id>
[[nodiscard]] numbers copy(const logits_rows<Id>& rows, std::size_t n, std::size_t vocabulary) {
    if (rows.size() != n || rows.vocabulary() != vocabulary)
        throw clause_broken{std::to_string(rows.size()) + " rows of " +
                            std::to_string(rows.vocabulary()) + " logits instead of " +
                            std::to_string(n) + " of " + std::to_string(vocabulary)};
    numbers out;
    for (std::size_t i = 0; i < n; ++i)
        for (const float x : rows[i].values) {
            if (std::isnan(x) || (std::isinf(x) && x > 0))
                throw clause_broken{std::to_string(x) + " among the logits"};
            out.push_back(x);
        }
    return out;
}

inline void require_same(std::span<const float> found, std::span<const float> wanted,
                         double tolerance, const std::string& how) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (!(found[i] == wanted[i] ||
              static_cast<double>(std::abs(found[i] - wanted[i])) <= tolerance))
            throw clause_broken{"logit " + std::to_string(found[i]) + " instead of " +
                                std::to_string(wanted[i]) + " " + how};
}

} // namespace exit_contract_detail

/// Checks exits.*; `make` returns an ExitModelOf<Id> that holds nothing, each time a new one.
/// Sequence 0 is asked.
template <class Id, class Make>
[[nodiscard]] contract_report check_exits(Make&& make,
                                          const model_contract_settings<Id>& settings = {}) {
    using namespace exit_contract_detail;
    auto model = make();
    const std::size_t size = model.vocabulary_size(), exits = model.exits();
    const contract_tokens<Id> tokens(settings, size, model.capacity());
    constexpr std::size_t n = 6;
    const std::vector<Id> ids(tokens.right.begin(), tokens.right.begin() + n);
    const std::vector<Id> others(tokens.wrong.begin(), tokens.wrong.begin() + n);
    const std::span<const Id> all = ids;
    std::vector<numbers> alone(exits); // the rows of each exit, nothing else asked
    const auto require_row = [&](std::size_t e, std::size_t i, const char* how) {
        require_same(copy<Id>(model.exit_rows(0, e, i, 1), 1, size),
                     std::span(alone[e]).subspan(i * size, size), settings.tolerance,
                     std::string(how) + ", exit " + std::to_string(e) + " after token " +
                         std::to_string(i));
    };
    contract_report report;
    report.run("exits.shape", "a row for each token, of each of one exit or more", {}, [&] {
        if (exits == 0)
            throw clause_broken{"no exit"};
        for (std::size_t e = 0; e < exits; ++e) {
            auto once = make();
            once.append(0, all);
            alone[e] = copy<Id>(once.exit_rows(0, e, 0, n), n, size);
        }
    });
    report.run("exits.context", "a function of the exit and of the tokens up to its own",
               {"exits.shape"}, [&] {
                   model.truncate(0, 0);
                   for (std::size_t i = 0; i < n; ++i) { // each stops elsewhere
                       model.append(0, all.subspan(i, 1));
                       for (std::size_t e = 0; e <= (i * 7 + 3) % 4 % exits; ++e)
                           require_row(e, i, "one by one, going deeper");
                   }
                   for (std::size_t e = exits; e-- > 0;)
                       for (std::size_t i = n; i-- > 0;)
                           require_row(e, i, "the deepest first");
               });
    report.run("exits.truncated", "the same after a truncation", {"exits.context"}, [&] {
        for (std::size_t e = 0; e < exits; ++e)
            for (std::size_t kept = 0; kept < n; ++kept) {
                model.truncate(0, kept);
                model.append(0, std::span<const Id>(others));
                (void)model.exit_rows(0, (e + kept) % exits, kept + n - 1, 1);
                model.truncate(0, kept);
                model.append(0, all.subspan(kept));
                require_row(e, n - 1, "after a truncation");
            }
    });
    report.run("exits.depth", "exits that differ", {"exits.shape"}, [&] {
        for (std::size_t e = 1; e < exits; ++e)
            if (alone[e] == alone[e - 1])
                throw clause_broken{"the same rows of exits " + std::to_string(e - 1) + " and " +
                                    std::to_string(e)};
    });
    report.run("exits.full", "too many tokens refused by a throw", {"exits.shape"}, [&] {
        model.truncate(0, 0);
        model.append(0, all);
        const std::vector<Id> many(model.capacity() - n + 1, ids[0]);
        const bool thrown = throws([&] { model.append(0, std::span<const Id>(many)); });
        if (!thrown || model.size(0) != n)
            throw clause_broken{thrown ? "a size that changed" : "no throw"};
        require_row(exits - 1, n - 1, "after the throw");
    });
    return report;
}

} // namespace specdec
