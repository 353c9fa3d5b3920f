// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/parse_json.hpp>

namespace specdec::engine {

/// Checked access to the fields of a JSON object. Errors name the source and the field's path.
class json_fields {
public:
    /// Borrows the object. `path` stands before a field's name in errors; may be empty.
    json_fields(const nlohmann::json& object, std::string source, std::string path)
        : object_(&object), source_(std::move(source)), path_(std::move(path)) {
        if (!object.is_object())
            throw error(source_, path_.empty() ? "file" : path_, "expected a JSON object");
    }

    [[noreturn]] void fail(const std::string& field, const std::string& expected) const {
        throw error(source_, path_.empty() ? field : path_ + " " + field, expected);
    }

    /// Present and not null.
    [[nodiscard]] bool has(const std::string& field) const { return find(field) != nullptr; }

    [[nodiscard]] const nlohmann::json& object(const std::string& field) const {
        const nlohmann::json& value = at(field);
        if (!value.is_object())
            fail(field, "expected an object");
        return value;
    }
    [[nodiscard]] std::string text(const std::string& field) const {
        const nlohmann::json& value = at(field);
        if (!value.is_string())
            fail(field, "expected a string");
        return value.get<std::string>();
    }
    [[nodiscard]] std::string text_or(const std::string& field, const std::string& other) const {
        return has(field) ? text(field) : other;
    }
    [[nodiscard]] std::size_t size(const std::string& field) const {
        return to_size(at(field), field);
    }
    [[nodiscard]] std::size_t size_or(const std::string& field, std::size_t other) const {
        return has(field) ? size(field) : other;
    }
    [[nodiscard]] double number(const std::string& field) const {
        const nlohmann::json& value = at(field);
        if (!value.is_number())
            fail(field, "expected a number");
        return value.get<double>();
    }
    [[nodiscard]] double number_or(const std::string& field, double other) const {
        return has(field) ? number(field) : other;
    }
    [[nodiscard]] bool boolean_or(const std::string& field, bool other) const {
        if (!has(field))
            return other;
        const nlohmann::json& value = at(field);
        if (!value.is_boolean())
            fail(field, "expected true or false");
        return value.get<bool>();
    }
    /// An array of numbers that are not negative.
    [[nodiscard]] std::vector<std::size_t> sizes(const std::string& field) const {
        const nlohmann::json& value = at(field);
        if (!value.is_array())
            fail(field, "expected an array of integers");
        std::vector<std::size_t> out;
        for (const nlohmann::json& element : value)
            out.push_back(to_size(element, field));
        return out;
    }
    /// A token id or an array of them; empty where the field is missing.
    [[nodiscard]] std::vector<std::int32_t> ids(const std::string& field) const {
        if (!has(field))
            return {};
        std::vector<std::int32_t> out;
        const std::vector<std::size_t> values =
            at(field).is_array() ? sizes(field) : std::vector<std::size_t>{size(field)};
        for (const std::size_t value : values) {
            if (value > 0x7FFFFFFFU)
                fail(field, "expected token ids below 2^31");
            out.push_back(static_cast<std::int32_t>(value));
        }
        return out;
    }

private:
    [[nodiscard]] const nlohmann::json* find(const std::string& field) const {
        const auto found = object_->find(field);
        return found == object_->end() || found->is_null() ? nullptr : &*found;
    }
    [[nodiscard]] const nlohmann::json& at(const std::string& field) const {
        const nlohmann::json* value = find(field);
        if (value == nullptr)
            fail(field, "expected this field, it is missing");
        return *value;
    }
    [[nodiscard]] std::size_t to_size(const nlohmann::json& value, const std::string& field) const {
        if (!value.is_number_unsigned())
            fail(field, "expected integers that are not negative");
        return value.get<std::size_t>();
    }

    const nlohmann::json* object_;
    std::string source_;
    std::string path_;
};

} // namespace specdec::engine
