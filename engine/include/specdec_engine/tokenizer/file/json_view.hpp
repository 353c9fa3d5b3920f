// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/json_fields.hpp>

namespace specdec::engine {

/// A value inside a JSON file that knows where it stands ("model.merges[3]"), so that asking for
/// what is not there is a specdec::error that names file and field. Borrows the value and `source`.
class json_view {
public:
    json_view(const nlohmann::json& value, const std::string& source, std::string field = {})
        : value_(&value), source_(&source), field_(std::move(field)) {}

    [[nodiscard]] const std::string& source() const { return *source_; }
    [[nodiscard]] std::string field() const { return field_.empty() ? "file" : field_; }
    [[noreturn]] void expected(const std::string& what) const {
        throw error(*source_, field(), "expected " + what);
    }

    [[nodiscard]] bool is_null() const { return value_->is_null(); }
    [[nodiscard]] bool is_string() const { return value_->is_string(); }
    [[nodiscard]] bool is_object() const { return value_->is_object(); }
    [[nodiscard]] bool is_array() const { return value_->is_array(); }

    /// The member of that name, unless it is missing or null.
    [[nodiscard]] std::optional<json_view> find(const char* key) const {
        if (!value_->is_object())
            expected("an object");
        const auto found = value_->find(key);
        if (found == value_->end() || found->is_null())
            return std::nullopt;
        return json_view(*found, *source_, field_.empty() ? key : field_ + "." + key);
    }
    [[nodiscard]] json_view at(const char* key) const {
        if (const auto found = find(key))
            return *found;
        throw error(*source_, field_.empty() ? key : field_ + "." + key, "expected this field");
    }

    [[nodiscard]] const std::string& string() const {
        if (!value_->is_string())
            expected("a string");
        return value_->get_ref<const std::string&>();
    }
    [[nodiscard]] bool boolean() const {
        if (!value_->is_boolean())
            expected("true or false");
        return value_->get<bool>();
    }
    [[nodiscard]] bool boolean_or(const char* key, bool otherwise) const {
        const auto found = find(key);
        return found ? found->boolean() : otherwise;
    }
    /// A token's id, where there are `end` ids, `holes` of which at most have no token.
    [[nodiscard]] std::int32_t id_below(std::size_t end, std::size_t holes = 0) const {
        if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() >= end)
            expected("an id below " + std::to_string(end) + ", the number of tokens" +
                     (holes > 0 ? " and " + std::to_string(holes) + " ids without one" : ""));
        return static_cast<std::int32_t>(value_->get<std::uint64_t>());
    }

    /// The length of an array or object.
    [[nodiscard]] std::size_t size() const { return value_->size(); }
    [[nodiscard]] json_view operator[](std::size_t i) const {
        return {(*value_)[i], *source_, field_ + "[" + std::to_string(i) + "]"};
    }
    /// The elements of an array.
    [[nodiscard]] std::vector<json_view> elements() const {
        if (!value_->is_array())
            expected("an array");
        std::vector<json_view> out;
        out.reserve(size());
        for (std::size_t i = 0; i < size(); ++i)
            out.push_back((*this)[i]);
        return out;
    }
    [[nodiscard]] const nlohmann::json& value() const { return *value_; }

private:
    const nlohmann::json* value_;
    const std::string* source_;
    std::string field_;
};

} // namespace specdec::engine
