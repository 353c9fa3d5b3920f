// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/quantised.hpp>
#include <specdec_engine/file/tensor.hpp>
#include <specdec_engine/learn/reverse/parameter_layout.hpp>

namespace specdec::engine {

/// Fills arrays of known layouts from the tensors of a file: each tensor has to be there in its
/// shape, and there must be no other.
class expected_tensors {
public:
    /// `tensors` view the file's bytes, which must live as long.
    expected_tensors(std::vector<tensor> tensors, std::string source) : source_(std::move(source)) {
        for (tensor& t : tensors) {
            const std::string name = t.name;
            found_.emplace(name, std::move(t));
        }
    }

    [[nodiscard]] bool has(const std::string& name) const { return found_.contains(name); }
    /// Checks that all tensors of a layout are there, F32, F16 or BF16, in their shapes; they are
    /// then expected. Errors: specdec::error naming file and tensor.
    void expect(const parameter_layout& layout, const std::string& prefix = "") {
        for (const parameter& p : layout.tensors()) {
            const auto at = found_.find(prefix + p.name);
            if (at == found_.end())
                throw error(source_, "tensor " + prefix + p.name,
                            "expected this tensor, it is missing");
            require_shape(at->second, p.shape);
            ++expected_;
        }
    }
    /// Errors: specdec::error for a tensor that nobody expected.
    void expect_no_other() const {
        if (found_.size() > expected_)
            throw error(source_, "tensors",
                        "expected " + std::to_string(expected_) + ", found " +
                            std::to_string(found_.size()));
    }

    /// Precondition: expect() of the same. Copies bits where the file has F32. Errors:
    /// specdec::error naming file and tensor for numbers that are not finite.
    template <class Scalar>
    void read(const parameter_layout& layout, std::span<Scalar> values,
              const std::string& prefix = "") const {
        std::vector<float> row;
        for (const parameter& p : layout.tensors()) {
            const tensor& t = found_.at(prefix + p.name);
            row.resize(t.columns());
            for (std::size_t r = 0; r < t.rows(); ++r) {
                read_weights(t, r, row);
                for (std::size_t k = 0; k < row.size(); ++k)
                    values[p.offset + r * row.size() + k] = static_cast<Scalar>(row[k]);
            }
        }
    }

private:
    std::string source_;
    std::unordered_map<std::string, tensor> found_;
    std::size_t expected_ = 0;
};

} // namespace specdec::engine
