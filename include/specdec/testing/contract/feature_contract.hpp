// SPDX-License-Identifier: MIT
#pragma once

#include <cmath> // std::isfinite, std::abs
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/head/features/features.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

/// Does an engine that shows features, or a drafter's body that reads them, keep what
/// head/features/features.hpp asks for?
///
///     report = check_features<target_id>(make_target, {.tolerance = 1e-5});
///     report = check_feature_body(make_body, {.tolerance = 1e-5});
///
///     features.shape    a feature of feature_width() finite numbers for each token fed
///     features.context  the same whether tokens are appended or scored, at once or one by one, and
///                       after a truncation; others behind other tokens
///     body.shape        rows of the widths it says, for each place read
///     body.context      the same whether places are read at once, one by one, or again
///     body.own          its own feature goes in, and makes other rows than none
///     body.full         reading beyond the capacity throws and changes nothing
///     body.together     several sequences in one pass have the rows that each has alone (of a
///                       FeatureBatchBody of several)
namespace specdec {

namespace feature_contract_detail {

using numbers = std::vector<float>;

inline numbers copy(const hidden_states& rows) {
    numbers out;
    for (std::size_t i = 0; i < rows.size(); ++i)
        out.insert(out.end(), rows[i].values.begin(), rows[i].values.end());
    return out;
}

inline void require_shape(const hidden_states& rows, std::size_t n, std::size_t width) {
    if (rows.size() != n || rows.width() != width)
        throw clause_broken{std::to_string(rows.size()) + " rows of width " +
                            std::to_string(rows.width()) + " instead of " + std::to_string(n) +
                            " of width " + std::to_string(width)};
    for (const float x : copy(rows))
        if (!std::isfinite(x))
            throw clause_broken{std::to_string(x) + " among the numbers"};
}

[[nodiscard]] inline bool near(const numbers& a, const numbers& b, double tolerance) {
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i)
        same = a[i] == b[i] || static_cast<double>(std::abs(a[i] - b[i])) <= tolerance;
    return same;
}
inline void require_near(const numbers& a, const numbers& b, double tolerance, const char* how) {
    if (!near(a, b, tolerance))
        throw clause_broken{std::string("other numbers ") + how};
}

} // namespace feature_contract_detail

/// Checks features.*; `make` returns a FeatureModelOf<Id> with an empty context, each time a new
/// one. What else it owes as a model is check_model's.
template <class Id, class Make>
[[nodiscard]] contract_report check_features(Make&& make,
                                             const model_contract_settings<Id>& settings = {}) {
    using namespace feature_contract_detail;
    auto model = make();
    const contract_tokens<Id> tokens(settings, model.vocabulary_size(), model.capacity());
    const std::vector<Id> ids(tokens.right.begin(), tokens.right.begin() + 6);
    const std::vector<Id> others(tokens.wrong.begin(), tokens.wrong.begin() + 6);
    const std::span<const Id> all = ids;
    numbers first;
    contract_report report;
    report.run("features.shape", "a finite feature for each token fed", {}, [&] {
        (void)model.score(all);
        require_shape(model.features(), ids.size(), model.feature_width());
        first = copy(model.features());
        model.truncate(0);
        model.append(all.first(2));
        require_shape(model.features(), 2, model.feature_width());
    });
    report.run(
        "features.context", "a function of the tokens up to its own", {"features.shape"}, [&] {
            const std::size_t width = model.feature_width();
            model.truncate(0);
            model.append(all);
            require_near(copy(model.features()), first, settings.tolerance, "appended");
            model.truncate(0);
            for (std::size_t i = 0; i < ids.size(); ++i) {
                (void)model.score(all.subspan(i, 1));
                const auto at = first.begin() + static_cast<std::ptrdiff_t>(i * width);
                require_near(copy(model.features()), {at, at + static_cast<std::ptrdiff_t>(width)},
                             settings.tolerance, "one by one");
            }
            model.truncate(2);
            model.append(all.subspan(2));
            require_near(copy(model.features()),
                         {first.begin() + static_cast<std::ptrdiff_t>(2 * width), first.end()},
                         settings.tolerance, "after a truncation");
            model.truncate(0);
            model.append(std::span<const Id>(others));
            if (near(copy(model.features()), first, 0))
                throw clause_broken{"the same after other tokens"};
        });
    return report;
}

/// Checks body.*; `make` returns a FeatureBody that holds nothing, each time a new one.
template <class Make>
[[nodiscard]] contract_report
check_feature_body(Make&& make, const model_contract_settings<draft_id>& settings = {}) {
    using namespace feature_contract_detail;
    auto body = make();
    constexpr std::size_t n = 4;
    const std::size_t width = body.feature_width(), own = body.own_width();
    numbers given(n * width);
    for (std::size_t i = 0; i < given.size(); ++i)
        given[i] = static_cast<float>(i * 7 % 13) / 6.5F - 1.0F;
    const hidden_states features(given.data(), n, width, width);
    std::vector<draft_id> ids;
    for (std::size_t i = 0; i < n; ++i)
        ids.push_back(id_at<draft_id>((3 * i + 1) % body.vocabulary_size()));
    const std::span<const draft_id> all = ids;
    const auto at = [](const numbers& of, std::size_t i, std::size_t length) {
        const auto begin = of.begin() + static_cast<std::ptrdiff_t>(i * length);
        return numbers(begin, begin + static_cast<std::ptrdiff_t>(length));
    };
    numbers states, owns;
    contract_report report;
    report.run("body.shape", "rows of its widths for each place", {}, [&] {
        const body_output rows = body.read(0, all, {features, false});
        require_shape(rows.states, n, body.width());
        require_shape(rows.own, n, own);
        states = copy(rows.states), owns = copy(rows.own);
        if (body.size(0) != n)
            throw clause_broken{"a size of " + std::to_string(body.size(0))};
    });
    report.run("body.context", "a function of the places up to its own", {"body.shape"}, [&] {
        body.truncate(0, 1);
        for (std::size_t i = 1; i < n; ++i) {
            const body_output rows =
                body.read(0, all.subspan(i, 1), {features.middle(i, 1), false});
            require_near(copy(rows.states), at(states, i, body.width()), settings.tolerance,
                         "one by one");
            require_near(copy(rows.own), at(owns, i, own), settings.tolerance, "one by one");
        }
    });
    report.run("body.own", "its own feature to matter", {"body.context"}, [&] {
        const numbers last = at(owns, n - 1, own), none(own);
        const auto behind = [&](const numbers& feature) {
            body.truncate(0, n);
            return copy(body.read(0, all.first(1), {{feature.data(), 1, own, own}, true}).states);
        };
        const numbers one = behind(last);
        require_near(behind(last), one, settings.tolerance, "again");
        if (near(behind(none), one, 0))
            throw clause_broken{"the same after zeros"};
    });
    report.run("body.full", "a throw, and nothing changed", {"body.shape"}, [&] {
        const std::size_t more = body.capacity() - body.size(0) + 1, held = body.size(0);
        const std::vector<draft_id> many(more, ids[0]);
        const numbers zeros(more * width);
        const bool thrown = throws([&] {
            (void)body.read(0, many, {{zeros.data(), more, width, width}, false});
        });
        if (!thrown || body.size(0) != held)
            throw clause_broken{thrown ? "another size" : "no throw"};
    });
    if constexpr (FeatureBatchBody<decltype(body)>)
        if (body.sequences() > 1)
            report.run(
                "body.together", "the rows that each sequence has alone", {"body.shape"}, [&] {
                    body.truncate(0, 0);
                    body.truncate(1, 0);
                    const sequence_tokens<draft_id> parts[] = {{1, all.first(2)},
                                                               {0, all.subspan(2)}};
                    numbers alone_states, alone_own;
                    for (const auto& [s, part] : parts) {
                        const body_output rows =
                            body.read(s, part, {features.middle(s == 1 ? 0 : 2, 2), false});
                        for (const float x : copy(rows.states))
                            alone_states.push_back(x);
                        for (const float x : copy(rows.own))
                            alone_own.push_back(x);
                        body.truncate(s, 0);
                    }
                    const body_output rows = body.read(parts, {features, false});
                    require_shape(rows.states, n, body.width());
                    require_shape(rows.own, n, own);
                    require_near(copy(rows.states), alone_states, settings.tolerance, "together");
                    require_near(copy(rows.own), alone_own, settings.tolerance, "together");
                    if (body.size(0) != 2 || body.size(1) != 2)
                        throw clause_broken{"other sizes"};
                });
    return report;
}

} // namespace specdec
