// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio> // std::snprintf
#include <span>
#include <string>
#include <vector>

#include <specdec/core/rows.hpp>
#include <specdec/testing/contract/contract_report.hpp>
#include <specdec/testing/row_difference.hpp>

namespace specdec {

/// The rows that a model under test should return at each position (or `place`: "node"), copied
/// from it once.
class expected_rows {
public:
    /// Rows count as equal up to this distance of log-probabilities; 0: bit for bit.
    explicit expected_rows(double tolerance, const char* place = "position")
        : tolerance_(tolerance), place_(place) {}

    template <class Id>
    void record(const logits_rows<Id>& rows) {
        rows_.clear();
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows_.emplace_back(rows[i].values.begin(), rows[i].values.end());
    }

    [[nodiscard]] std::span<const float> operator[](std::size_t position) const {
        return rows_[position];
    }

    [[nodiscard]] bool equal(std::size_t position, std::span<const float> row) const {
        return within(compare_rows(rows_[position], row));
    }

    /// Throws clause_broken where row i of `rows` is not that of position + i, for the first n.
    template <class Id>
    void require(std::size_t position, const logits_rows<Id>& rows, std::size_t n,
                 const std::string& where) {
        for (std::size_t i = 0; i < n; ++i) {
            const row_difference d = compare_rows(rows_[position + i], rows[i].values);
            if (d.greatest > greatest_)
                greatest_ = d.greatest;
            if (!within(d))
                throw clause_broken{"the row of " + std::string(place_) + " " +
                                    std::to_string(position + i) + ", " + where + ", gives token " +
                                    std::to_string(d.token) + " the log-probability " +
                                    number(d.second) + " instead of " + number(d.first) + " (" +
                                    number(d.greatest) + " apart)"};
        }
    }

    /// The greatest distance that require() has met.
    [[nodiscard]] double greatest_difference() const { return greatest_; }

private:
    [[nodiscard]] bool within(const row_difference& d) const {
        return d.identical || (tolerance_ > 0 && d.greatest <= tolerance_);
    }

    static std::string number(double x) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.6g", x);
        return digits;
    }

    double tolerance_;
    const char* place_;
    double greatest_ = 0;
    std::vector<std::vector<float>> rows_; // [positions][vocabulary]
};

} // namespace specdec
