// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>
#include <openvino/openvino.hpp>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/interop/openvino_model.hpp>

/// Rows, copied and compared.
namespace specdec::toy_ir {

using row = std::vector<float>;

inline std::vector<row> rows_of(const logits_rows<target_id>& rows) {
    std::vector<row> all;
    for (std::size_t i = 0; i < rows.size(); ++i)
        all.emplace_back(rows[i].values.begin(), rows[i].values.end());
    return all;
}
inline double distance(const row& a, const row& b) {
    REQUIRE(a.size() == b.size());
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    return most;
}

/// Rows behind each token, fed one by one to a model of their own.
inline std::vector<row> rows_alone(const ov::CompiledModel& engine,
                                   const std::vector<target_id>& ids) {
    openvino_model<target_id> m(engine);
    std::vector<row> all;
    for (const target_id& id : ids)
        all.push_back(rows_of(m.score({&id, 1}))[0]);
    return all;
}

} // namespace specdec::toy_ir
