// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min, std::copy_n
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <specdec/head/lm_head.hpp>
#include <specdec_engine/drafter/feature_body.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/panels.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/inputs.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace specdec::engine {

/// Rows of an LM head in panels, with what multiplies them.
template <NumberFormat Format>
class head_panels {
    using parts = format_parts<Format>;
    using matrix = typename parts::matrix;

public:
    /// All rows of a matrix in that memory, which is shared.
    head_panels(std::shared_ptr<const void> memory, const matrix& whole,
                const typename parts::kernels& kernels, isa instructions,
                std::shared_ptr<thread_pool> team)
        : memory_(std::move(memory)), matrix_(whole), kernels_(kernels),
          inputs_(whole.columns(), instructions), team_(std::move(team)),
          line_(round_up(whole.columns(), 32)) {}

    /// Copies of the given rows.
    [[nodiscard]] head_panels select(std::span<const std::size_t> rows) const {
        auto values = std::make_shared<aligned_vector<typename parts::unit>>(
            parts::footprint(rows.size(), width(), type()));
        head_panels copy(*this);
        copy.own_ = parts::place(values->data(), rows.size(), width(), type());
        copy.matrix_ = copy.own_;
        copy.memory_ = std::move(values);
        for (std::size_t k = 0; k < rows.size(); ++k)
            copy.replace(k, *this, rows[k]);
        return copy;
    }
    /// Row k of a copy becomes that row of another head.
    void replace(std::size_t k, const head_panels& from, std::size_t row) {
        own_.copy_row(k, from.matrix_, row);
    }

    [[nodiscard]] std::size_t width() const { return matrix_.columns(); }
    [[nodiscard]] std::size_t bytes() const { return matrix_.bytes(); }
    [[nodiscard]] std::size_t bytes_of(std::size_t rows) const {
        return parts::footprint(rows, width(), type()) * sizeof(typename parts::unit);
    }

    void multiply(const hidden_states& x, std::size_t first, std::size_t n, scores_out out) {
        set_input(x);
        const std::size_t begin = first / panel_rows;
        const std::size_t end = round_up(first + n, panel_rows) / panel_rows;
        share_out(end - begin, [&](pool_share s) {
            engine::multiply(
                kernels_, matrix_, {s.member, s.begin + begin, s.end + begin, s.first},
                input_.data(), inputs_.stride(), x.size(),
                [&](std::size_t row, std::size_t column, std::size_t count, const float* y) {
                    const std::size_t from = std::max(row, first);
                    const std::size_t to = std::min(row + panel_rows, first + n);
                    for (std::size_t c = 0; c < count; ++c)
                        std::copy_n(y + c * panel_rows + (from - row), to - from,
                                    out.row(column + c, n).data() + (from - first));
                });
        });
    }

    /// A panel is multiplied once for each run of the list within it: for a list that ascends,
    /// once.
    void multiply(const hidden_states& x, std::span<const std::size_t> list, scores_out out) {
        set_input(x);
        share_out(list.size(), [&](pool_share s) {
            for (std::size_t k = s.begin; k < s.end;) {
                const std::size_t panel = list[k] / panel_rows;
                std::size_t behind = k;
                while (behind < s.end && list[behind] / panel_rows == panel)
                    ++behind;
                multiply_panel(kernels_, matrix_, panel, input_.data(), inputs_.stride(), x.size(),
                               [&](std::size_t column, std::size_t count, const float* y) {
                                   for (std::size_t c = 0; c < count; ++c)
                                       for (std::size_t j = k; j < behind; ++j)
                                           out.row(column + c, list.size())[j] =
                                               y[c * panel_rows + list[j] % panel_rows];
                               });
                k = behind;
            }
        });
    }

private:
    void set_input(const hidden_states& x) {
        if (input_.size() < x.size() * inputs_.stride())
            input_.resize(x.size() * inputs_.stride());
        for (std::size_t i = 0; i < x.size(); ++i)
            inputs_.round(x[i].values, line_.data(), &input_[i * inputs_.stride()]);
    }
    [[nodiscard]] dtype type() const {
        if constexpr (std::same_as<Format, quantised>)
            return matrix_.type();
        else
            return dtype::other; // of no matter
    }
    template <class Work>
    void share_out(std::size_t n, const Work& work) {
        const bool alone = matrix_.bytes() < forward_pass<Format>::one_thread_bytes;
        team_->run(n, alone ? n : 1, work);
    }

    std::shared_ptr<const void> memory_; ///< that matrix_ lies in
    matrix matrix_, own_;                ///< own_: where it is a copy
    typename parts::kernels kernels_;
    input_maker<Format> inputs_;
    std::shared_ptr<thread_pool> team_;
    aligned_vector<typename parts::input> input_; ///< [states][stride]
    aligned_vector<typename parts::stored> line_;
};

/// The LM head of a transformer, apart from it: weights and threads are shared, nothing is copied
/// but what is selected. Products are bit for bit the logits that the model scores. Models
/// SelectableHeadOf<Id>. Lists: a panel of 32 rows is read whole, so a list saves what it leaves
/// out in whole panels only, or where its rows are selected. Allocates where there are more hidden
/// states than ever before. Not for two threads at once.
template <class Id>
class lm_head {
public:
    /// vocabulary_size: the transformer's.
    explicit lm_head(const transformer& of)
        : vocabulary_size_(of.vocabulary_size()),
          panels_(of.with_pass([&]<class Format>(const forward_pass<Format>& pass) -> any_panels {
              return head_panels<Format>(pass.shared_weights(), pass.weights().head, pass.kernels(),
                                         pass.instructions(), of.team());
          })) {}
    /// The head of a drafter's body that has one of its own; as many ids as it has rows.
    /// Precondition: of.kept() is not null.
    explicit lm_head(const feature_body& of)
        : vocabulary_size_(of.kept()->size()),
          panels_(of.with_pass([&]<class Format>(const feature_pass<Format>& pass) -> any_panels {
              return head_panels<Format>(pass.shared_weights(), pass.weights().head, pass.kernels(),
                                         pass.instructions(), pass.team());
          })) {}

    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_size_; }
    [[nodiscard]] std::size_t width() const {
        return std::visit([](const auto& p) { return p.width(); }, panels_);
    }
    /// Of weights, that products of all rows read for one hidden state; padding included.
    [[nodiscard]] std::size_t bytes() const {
        return std::visit([](const auto& p) { return p.bytes(); }, panels_);
    }
    /// The same where so many rows are selected.
    [[nodiscard]] std::size_t bytes_of(std::size_t rows) const {
        return std::visit([rows](const auto& p) { return p.bytes_of(rows); }, panels_);
    }

    void multiply(const hidden_states& x, scores_out out) { multiply(x, 0, vocabulary_size_, out); }
    void multiply(const hidden_states& x, std::size_t first, std::size_t n, scores_out out) {
        std::visit([&](auto& p) { p.multiply(x, first, n, out); }, panels_);
    }
    void multiply(const hidden_states& x, std::span<const Id> ids, scores_out out) {
        std::visit([&](auto& p) { p.multiply(x, plain(ids), out); }, panels_);
    }

    [[nodiscard]] lm_head select(std::span<const Id> ids) {
        lm_head copy(*this);
        copy.vocabulary_size_ = ids.size();
        std::visit([&](const auto& p) { copy.panels_ = p.select(plain(ids)); }, panels_);
        return copy;
    }
    /// Of a selected one. Precondition: both are of one model.
    void replace(std::size_t k, const lm_head& from, Id id) {
        std::visit(
            [&](auto& p) {
                p.replace(k, std::get<std::remove_cvref_t<decltype(p)>>(from.panels_), id.index());
            },
            panels_);
    }

private:
    using any_panels =
        std::variant<head_panels<float>, head_panels<bf16_bits>, head_panels<quantised>>;

    std::span<const std::size_t> plain(std::span<const Id> ids) {
        list_.clear();
        for (const Id id : ids)
            list_.push_back(id.index());
        return list_;
    }

    std::size_t vocabulary_size_;
    any_panels panels_;
    std::vector<std::size_t> list_;
};

} // namespace specdec::engine
