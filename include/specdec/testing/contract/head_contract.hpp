// SPDX-License-Identifier: MIT
#pragma once

#include <cmath> // std::isfinite, std::abs
#include <cstddef>
#include <span>
#include <string>
#include <type_traits> // std::remove_reference_t
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

/// Does an engine whose LM head is apart keep what head/lm_head.hpp asks for?
///
///     const contract_report report = check_head<draft_id>(make, head, {.tolerance = 1e-5});
///
/// Clauses: model.* (see engine_contract.hpp) of the model with all of its head behind it, and
///
///     head.values   all products are finite, and nothing is written beside them
///     head.range    some rows in a row: the products of all
///     head.list     a list in any order: the k-th product is that of the k-th id
///     head.copy     copied rows, some of them replaced: the same
///     head.score    where the model scores by itself, too: the same rows
namespace specdec {

/// A model under test with its whole head.
template <class Id, class Make, class Head>
class owned_headed : made_model<Make>,
                     full_head<Id, Head>,
                     public headed_model<std::remove_reference_t<decltype(made_model<Make>::made)>,
                                         full_head<Id, Head>> {
public:
    owned_headed(Make& make, Head& head)
        : made_model<Make>{make()}, full_head<Id, Head>(head),
          owned_headed::headed_model(this->made, static_cast<full_head<Id, Head>&>(*this)) {}
    owned_headed(const owned_headed&) = delete;

    using owned_headed::headed_model::vocabulary_size;
};

/// The checks behind check_head(), a function a clause.
template <class Id, class Make, class Head>
class head_contract {
public:
    head_contract(Make& make, Head& head, const model_contract_settings<Id>& settings)
        : model_(make()), head_(head), tolerance_(settings.tolerance) {
        const contract_tokens<Id> ids(settings, model_.vocabulary_size(), model_.capacity());
        ids_.assign(ids.right.begin(), ids.right.begin() + 8);
    }

    contract_report run() {
        contract_report report;
        report.run("head.values", "finite products, where they belong", {}, [&] { values(); });
        report.run("head.range", "the products of all for some rows", {"head.values"},
                   [&] { range(); });
        report.run("head.list", "the products of all for a list", {"head.values"}, [&] { list(); });
        report.run("head.copy", "the products of all from a copy", {"head.values"},
                   [&] { copy(); });
        report.run("head.score", "the rows that the model itself scores", {"head.values"},
                   [&] { score(); });
        return report;
    }

private:
    static constexpr float untouched = 12345.0F;

    void values() {
        states_ = model_.hidden(ids_);
        if (states_.size() != ids_.size() || states_.width() != head_.width())
            throw clause_broken{std::to_string(states_.size()) + " hidden states of width " +
                                std::to_string(states_.width())};
        all_ = products(vocabulary(), [&](scores_out out) { head_.multiply(states_, out); });
        for (const float x : all_)
            if (!std::isfinite(x))
                throw clause_broken{std::to_string(x) + " among the products"};
    }

    void range() {
        const std::size_t v = vocabulary();
        for (const auto& [first, n] : {std::pair{std::size_t{0}, v},
                                       {v / 3, v - v / 3},
                                       {v / 2, std::size_t{1}},
                                       {v - 1, std::size_t{1}},
                                       {std::size_t{1}, v / 2}}) {
            const auto some =
                products(n, [&](scores_out out) { head_.multiply(states_, first, n, out); });
            for (std::size_t k = 0; k < n; ++k)
                require(some, n, k, first + k);
        }
    }

    void list() {
        const std::vector<Id> ids = some_ids();
        const auto some = products(ids.size(), [&](scores_out out) {
            head_.multiply(states_, std::span<const Id>(ids), out);
        });
        for (std::size_t k = 0; k < ids.size(); ++k)
            require(some, ids.size(), k, ids[k].index());
    }

    void copy() {
        if constexpr (SelectableHeadOf<Head, Id>) {
            std::vector<Id> ids = some_ids();
            auto copied = head_.select(ids);
            if (copied.vocabulary_size() != ids.size())
                throw clause_broken{std::to_string(copied.vocabulary_size()) + " rows of " +
                                    std::to_string(ids.size())};
            for (const std::size_t k : {std::size_t{0}, ids.size() - 1}) {
                ids[k] = id_at<Id>(vocabulary() / 2);
                copied.replace(k, head_, ids[k]);
            }
            const auto some =
                products(ids.size(), [&](scores_out out) { copied.multiply(states_, out); });
            for (std::size_t k = 0; k < ids.size(); ++k)
                require(some, ids.size(), k, ids[k].index());
        } else {
            throw clause_left_out{"the head's rows cannot be copied"};
        }
    }

    void score() {
        using model_type = std::remove_reference_t<decltype(model_)>;
        if constexpr (ModelOf<model_type, Id>) {
            model_.truncate(0);
            const logits_rows<Id> rows = model_.score(std::span<const Id>(ids_));
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t v = 0; v < rows.vocabulary(); ++v)
                    require(rows[i].values[v], i, v, v);
        } else {
            throw clause_left_out{"the model does not score by itself"};
        }
    }

    [[nodiscard]] std::size_t vocabulary() const { return head_.vocabulary_size(); }
    /// Every third, backwards, and the last one.
    [[nodiscard]] std::vector<Id> some_ids() const {
        std::vector<Id> ids;
        for (std::size_t v = vocabulary() / 3 * 3; v >= 3; v -= 3)
            ids.push_back(id_at<Id>(v - 3));
        ids.push_back(id_at<Id>(vocabulary() - 1));
        return ids;
    }

    /// [states, n] products, made in memory with room behind each row that must stay as it is.
    template <class Multiply>
    std::vector<float> products(std::size_t n, const Multiply& multiply) {
        const std::size_t stride = n + 3;
        std::vector<float> padded(states_.size() * stride, untouched), out;
        multiply(scores_out{padded.data(), stride});
        for (std::size_t i = 0; i < states_.size(); ++i)
            for (std::size_t k = 0; k < stride; ++k) {
                if (k < n)
                    out.push_back(padded[i * stride + k]);
                else if (padded[i * stride + k] != untouched)
                    throw clause_broken{"something was written after " + std::to_string(n) +
                                        " products"};
            }
        return out;
    }

    void require(const std::vector<float>& some, std::size_t n, std::size_t k, std::size_t row) {
        for (std::size_t i = 0; i < states_.size(); ++i)
            require(some[i * n + k], i, k, row);
    }
    void require(float product, std::size_t i, std::size_t k, std::size_t row) const {
        const float wanted = all_[i * vocabulary() + row];
        if (product == wanted || static_cast<double>(std::abs(product - wanted)) <= tolerance_)
            return;
        throw clause_broken{"product " + std::to_string(k) + " of state " + std::to_string(i) +
                            ", row " + std::to_string(row) + ", is " + std::to_string(product) +
                            " instead of " + std::to_string(wanted)};
    }

    decltype(std::declval<Make&>()()) model_;
    Head& head_;
    double tolerance_;
    std::vector<Id> ids_;
    hidden_states states_;
    std::vector<float> all_; // [states, vocabulary]
};

/// Checks all clauses. `make` returns a HiddenModelOf<Id> with an empty context, each time a new
/// one; `head` is its LM head. The tolerance is that of products, too.
template <class Id, class Make, LmHeadOf<Id> Head>
[[nodiscard]] contract_report check_head(Make&& make, Head& head,
                                         const model_contract_settings<Id>& settings = {}) {
    contract_report report =
        check_model<Id>([&] { return owned_headed<Id, Make, Head>(make, head); }, settings);
    if (report.ok())
        report.add(head_contract<Id, Make, Head>(make, head, settings).run());
    else
        report.unchecked.push_back({"head.*", "builds on model.*"});
    return report;
}

} // namespace specdec
