// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/draft/counted/successor_table.hpp>

namespace specdec {

/// What a source of recycled tokens remembers: the text's last token, and the table, which it
/// borrows and teaches, and which texts may share. What a round's rows say is kept until the round
/// is committed: one that is abandoned teaches nothing.
class recycling {
public:
    static constexpr bridge_traits traits{.learns_rows = true};

    void start(std::span<const draft_id>) {
        last_ = {};
        kept_ = 0;
    }
    void follow(std::span<const target_id> committed) {
        for (std::size_t i = 0; i < kept_; ++i)
            table_->learn(learnt_[i].behind,
                          std::span(successors_).subspan(i * table_->width(), learnt_[i].count));
        kept_ = 0;
        if (!committed.empty())
            last_ = committed.back();
    }
    [[nodiscard]] std::size_t target_size() const { return table_->vocabulary(); }
    /// The target's rows behind each of these tokens; of an engine's own kind nothing is learnt.
    template <class Rows>
    void learn_rows(std::span<const target_id> ids, const Rows& rows) {
        kept_ = 0;
        if constexpr (std::convertible_to<decltype(rows[0]), logits_row<target_id>>)
            for (std::size_t i = 0; i < ids.size() && i < rows.size() && i < learnt_.size(); ++i) {
                if (rows[i].size() > table_->vocabulary())
                    return;
                const std::size_t begin = i * table_->width();
                learnt_[kept_++] = {
                    ids[i], table_->successors_in(rows[i], std::span(successors_).subspan(begin))};
            }
    }

protected:
    /// Of so many rows a round at most: those behind them, of longer drafts of others, teach
    /// nothing.
    recycling(successor_table& table, std::size_t rows)
        : table_(&table), learnt_(rows), successors_(rows * table.width()) {}
    [[nodiscard]] const successor_table& table() const { return *table_; }
    [[nodiscard]] target_id last() const { return last_; }

private:
    struct learnt {
        target_id behind;
        std::size_t count = 0;
    };
    successor_table* table_;
    target_id last_;
    std::size_t kept_ = 0;                               // rows of the last decided round
    std::vector<learnt> learnt_;                         // of these
    std::vector<successor_table::successor> successors_; // [rows, width]
};

} // namespace specdec
