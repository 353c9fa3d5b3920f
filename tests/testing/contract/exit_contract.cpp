// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/exit_contract.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_exits.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace exit_contract_tests {

/// What an engine gets wrong.
enum class bug : unsigned char { none, row_short, not_filled, not_truncated, one_depth, no_limit };

/// A toy whose rows depend on what was asked for before, as a cache's would.
class faulty_exits : public toy_exits {
public:
    explicit faulty_exits(bug which)
        : toy_exits(20, 3,
                    [which](std::size_t e, const sequence& prefix) {
                        return toy_rows(row_kind::random, 20,
                                        which == bug::one_depth ? 1 : e + 1)(prefix);
                    }),
          which_(which) {}

    void append(std::size_t s, std::span<const draft_id> ids) {
        if (which_ == bug::no_limit && ids.size() > capacity() - size(s))
            return;
        toy_exits::append(s, ids);
    }
    void truncate(std::size_t s, std::size_t n) {
        toy_exits::truncate(s, n);
        if (which_ != bug::not_truncated)
            reached_ = reached_ < n ? reached_ : n;
    }
    [[nodiscard]] logits_rows<draft_id> exit_rows(std::size_t s, std::size_t e, std::size_t first,
                                                  std::size_t n) {
        const logits_rows<draft_id> rows =
            toy_exits::exit_rows(s, e, first, which_ == bug::row_short ? 1 : n);
        const bool stale = (which_ == bug::not_filled && e > 0 && first > reached_) ||
                           (which_ == bug::not_truncated && first + 1 < reached_);
        if (e > 0 || which_ == bug::not_truncated)
            reached_ = first + n > reached_ ? first + n : reached_;
        if (!stale)
            return rows;
        row_.assign(rows[0].values.begin(), rows[0].values.end());
        row_[3] += 1;
        return {row_.data(), 1, 20, 20};
    }

private:
    bug which_;
    std::size_t reached_ = 0; // tokens whose deeper layers have run
    std::vector<float> row_;
};

contract_report report_of(bug which) {
    return check_exits<draft_id>([=] { return faulty_exits(which); });
}

TEST_CASE("a model with exits that keeps its contract, and such that do not") {
    const contract_report good = report_of(bug::none);
    CHECK(good.text().empty());
    CHECK(good.kept.size() == 5);
    const auto broken = [](bug which, const char* clause) {
        const contract_report report = report_of(which);
        CAPTURE(report.text());
        REQUIRE_FALSE(report.ok());
        CHECK(report.violations[0].clause == clause);
    };
    broken(bug::row_short, "exits.shape");
    broken(bug::not_filled, "exits.context");
    broken(bug::one_depth, "exits.depth");
    broken(bug::no_limit, "exits.full");
    CHECK_FALSE(report_of(bug::not_truncated).ok());
}

} // namespace exit_contract_tests
