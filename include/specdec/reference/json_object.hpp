// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>

namespace specdec::reference {

/// The text as JSON. Errors: specdec::error(source, field, ...) for other text.
[[nodiscard]] inline nlohmann::json json_of(std::string_view text, const std::string& source,
                                            const std::string& field) {
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    if (value.is_discarded())
        fail(source, field, "expected JSON");
    return value;
}

/// A JSON object whose fields are checked as they are read. A field that is null is missing.
/// Borrows the value. Errors: specdec::error(source, PLACE FIELD, ...) for a field that is missing
/// or of another type.
class json_object {
public:
    json_object(const nlohmann::json& value, std::string source, std::string place = {})
        : value_(value), source_(std::move(source)), place_(std::move(place)) {
        if (!value.is_object())
            fail(source_, place_.empty() ? "file" : place_, "expected a JSON object");
    }

    [[noreturn]] void refuse(const std::string& field, const std::string& expected) const {
        fail(source_, place_.empty() ? field : place_ + " " + field, expected);
    }
    [[nodiscard]] bool has(const std::string& field) const {
        return value_.contains(field) && !value_[field].is_null();
    }
    [[nodiscard]] const nlohmann::json& at(const std::string& field) const {
        if (!has(field))
            refuse(field, "expected this field, it is missing");
        return value_[field];
    }

    [[nodiscard]] json_object object(const std::string& field) const {
        return {at(field), source_, place_.empty() ? field : place_ + " " + field};
    }
    [[nodiscard]] std::string text(const std::string& field) const {
        return read<std::string>(field, at(field).is_string(), "a string");
    }
    [[nodiscard]] std::size_t size(const std::string& field) const {
        return read<std::size_t>(field, at(field).is_number_unsigned(), "a whole number from 0 on");
    }
    [[nodiscard]] double number(const std::string& field) const {
        return read<double>(field, at(field).is_number(), "a number");
    }
    [[nodiscard]] bool flag(const std::string& field) const {
        return read<bool>(field, at(field).is_boolean(), "true or false");
    }
    [[nodiscard]] std::vector<std::size_t> sizes(const std::string& field) const {
        bool all = at(field).is_array();
        for (std::size_t i = 0; all && i < at(field).size(); ++i)
            all = at(field)[i].is_number_unsigned();
        return read<std::vector<std::size_t>>(field, all, "whole numbers from 0 on");
    }

    [[nodiscard]] std::string text(const std::string& field, const std::string& otherwise) const {
        return has(field) ? text(field) : otherwise;
    }
    [[nodiscard]] std::size_t size(const std::string& field, std::size_t otherwise) const {
        return has(field) ? size(field) : otherwise;
    }
    [[nodiscard]] double number(const std::string& field, double otherwise) const {
        return has(field) ? number(field) : otherwise;
    }
    [[nodiscard]] bool flag(const std::string& field, bool otherwise) const {
        return has(field) ? flag(field) : otherwise;
    }

private:
    template <class Value>
    [[nodiscard]] Value read(const std::string& field, bool is, const char* what) const {
        if (!is)
            refuse(field, std::string("expected ") + what);
        return value_[field].get<Value>();
    }

    const nlohmann::json& value_;
    std::string source_, place_; // file, and where in it
};

} // namespace specdec::reference
