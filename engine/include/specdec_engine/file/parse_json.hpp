// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>

namespace specdec::engine {

namespace detail {

/// Receives what nlohmann's parser reads, and makes a document of it. Its own callback parser
/// searches an object or array again whenever a value in it ends, which is quadratic.
template <class Json>
class json_builder {
public:
    /// Levels of objects and arrays; what walks through a document calls itself once a level.
    static constexpr std::size_t deepest = 64;
    /// Names in one object, where each new one is compared with all that the object has.
    static constexpr std::size_t most_names = 1000;
    static constexpr bool compares_all =
        !requires(const typename Json::object_t& object) { object.key_comp(); };

    json_builder(Json& document, std::vector<std::string>* names)
        : next_(&document), names_(names) {}

    /// What was wrong; empty where the parser ended at the document's end.
    [[nodiscard]] const std::string& problem() const { return problem_; }

    bool null() { return put(nullptr); }
    bool boolean(bool value) { return put(value); }
    bool number_integer(typename Json::number_integer_t value) { return put(value); }
    bool number_unsigned(typename Json::number_unsigned_t value) { return put(value); }
    bool number_float(typename Json::number_float_t value, const std::string& /*digits*/) {
        return put(value);
    }
    bool string(std::string& value) { return put(std::move(value)); }
    bool binary(typename Json::binary_t& value) { return put(std::move(value)); }
    bool start_object(std::size_t /*unknown*/) { return open(Json::object()); }
    bool start_array(std::size_t /*unknown*/) { return open(Json::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& name) {
        if (names_ != nullptr && open_.size() == 1)
            names_->push_back(name);
        Json& object = *open_.back();
        if (compares_all && object.size() == most_names)
            return refuse("expected at most " + std::to_string(most_names) +
                          " fields in an object");
        next_ = &object[std::move(name)];
        return true;
    }
    bool parse_error(std::size_t /*place*/, const std::string& /*last read*/,
                     const nlohmann::json::exception& cause) {
        return refuse(std::string("expected JSON: ") + cause.what());
    }

private:
    bool refuse(std::string why) {
        problem_ = std::move(why);
        return false;
    }
    template <class Value>
    bool put(Value&& value) {
        place() = std::forward<Value>(value);
        return true;
    }
    bool open(Json empty) {
        if (open_.size() == deepest)
            return refuse("expected at most " + std::to_string(deepest) + " levels of JSON");
        Json& opened = place();
        opened = std::move(empty);
        open_.push_back(&opened);
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    /// Where the next value goes: to the end of the array that is open, or where a key or the
    /// document said.
    Json& place() {
        if (open_.empty() || !open_.back()->is_array())
            return *next_;
        Json& array = *open_.back();
        array.push_back(nullptr);
        return array.back();
    }

    Json* next_;
    std::vector<std::string>* names_;
    std::vector<Json*> open_; // a parent does not grow while a child is open
    std::string problem_;
};

} // namespace detail

/// Parses JSON of at most 64 levels. Of an object that has a name twice the last one counts;
/// `names`: those of the outermost object, each as often as it stands. Json: nlohmann::json, or
/// nlohmann::ordered_json, whose objects may have 1,000 fields. Complexity: linear, apart from the
/// search for a name in its object. Errors: specdec::error(source, field, ...) for other text.
template <class Json = nlohmann::json>
[[nodiscard]] Json parse_json(std::string_view text, const std::string& source,
                              const std::string& field, std::vector<std::string>* names = nullptr) {
    Json document;
    detail::json_builder<Json> builder(document, names);
    if (!Json::sax_parse(text.begin(), text.end(), &builder))
        throw error(source, field, builder.problem());
    return document;
}

} // namespace specdec::engine
