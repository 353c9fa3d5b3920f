// SPDX-License-Identifier: MIT
#include "support/text/json_schema.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>

namespace specdec::examples {

namespace {

using json = nlohmann::ordered_json;
using shapes = json_shapes;

constexpr std::size_t most_values = 4096, most_properties = 256, most_references = 64;
constexpr std::string_view said_only[] = {"title",       "description", "default",  "examples",
                                          "$schema",     "$id",         "$comment", "$defs",
                                          "definitions", "deprecated",  "readOnly", "writeOnly"};
constexpr std::string_view types[] = {"object",  "array",   "string", "number",
                                      "integer", "boolean", "null"};

class reader {
public:
    reader(const json& root, const json_limits& limits, std::string where)
        : root_(root), limits_(limits), where_(std::move(where)) {}

    json_shapes read() {
        (void)value_at(root_, where_);
        while (!later_.empty()) {
            const task next = std::move(later_.front());
            later_.pop_front();
            if (next.array)
                read_array(next);
            else
                read_object(next);
        }
        const shapes::value& all = out_.values[0];
        shapes::value object;
        object.object = all.object;
        if (all.object == shapes::none || first_bytes(all) != first_bytes(object))
            refuse(within(where_, "type"), "expected object");
        measure();
        if (out_.levels(all) > limits_.deepest)
            refuse(where_, "expected objects and arrays that can end within " +
                               std::to_string(limits_.deepest) + " levels");
        return std::move(out_);
    }

private:
    using bytes = std::bitset<256>;
    struct task { // an object or array whose inner values are read later, for they may contain it
        const json* schema;
        std::string where;
        std::uint16_t part;
        bool array;
    };

    [[noreturn]] static void refuse(const std::string& where, const std::string& expected) {
        throw error("", where, expected);
    }
    static std::uint16_t number(std::size_t n) { return static_cast<std::uint16_t>(n); }
    /// The name of a part, of bounded length whatever the schema calls it.
    static std::string within(const std::string& where, const std::string& part) {
        constexpr std::size_t longest = 256;
        return where.size() + part.size() > longest ? where : where + "." + part;
    }
    /// A keyword's value, or `usual`.
    static const json& at(const json& schema, const char* name, const json& usual) {
        const auto found = schema.find(name);
        return found == schema.end() ? usual : *found;
    }

    [[nodiscard]] std::uint16_t value_at(const json& schema, const std::string& where) {
        if (const auto known = values_.find(&schema); known != values_.end())
            return known->second;
        if (out_.values.size() >= most_values)
            refuse(where, "expected at most " + std::to_string(most_values) + " values");
        const std::uint16_t self = number(out_.values.size());
        values_.emplace(&schema, self);
        out_.values.emplace_back();
        const shapes::value v = shape_of(schema, where, 0);
        out_.values[self] = v;
        return self;
    }

    /// What a value may begin with, all objects and arrays in it still to be read.
    shapes::value shape_of(const json& schema, const std::string& where, std::size_t references) {
        if (schema.is_boolean() && schema.get<bool>())
            return anything();
        if (!schema.is_object())
            refuse(where, "expected a schema: an object, or true");
        for (const char* name : {"anyOf", "oneOf"})
            if (schema.contains(name)) {
                expect_keywords(schema, where, std::array{std::string_view(name)});
                return alternatives(schema[name], within(where, name), references);
            }
        if (schema.contains("$ref")) {
            expect_keywords(schema, where, std::array{std::string_view("$ref")});
            if (references == most_references)
                refuse(within(where, "$ref"), "expected a reference that does not lead to itself");
            return shape_of(referred(schema["$ref"], within(where, "$ref")), where, references + 1);
        }
        const bool listed = schema.contains("enum"), constant = schema.contains("const");
        if (listed || constant) {
            static constexpr std::string_view known[] = {"enum", "const", "type"};
            expect_keywords(schema, where, known);
            if (listed && constant)
                refuse(within(where, "const"), "expected no such keyword with enum");
            return texts(schema, listed ? schema["enum"] : json::array({schema["const"]}),
                         within(where, listed ? "enum" : "const"));
        }
        shapes::value v;
        const std::vector<std::string> all = types_of(schema, where);
        std::vector<std::string_view> known{"type"};
        for (const std::string& type : all)
            add(v, of_type(type, schema, where, known), within(where, "type"));
        expect_keywords(schema, where, known);
        return all.empty() ? anything() : v;
    }

    /// The names of the types; none: any.
    static std::vector<std::string> types_of(const json& schema, const std::string& where) {
        if (!schema.contains("type")) {
            if (schema.contains("properties"))
                return {"object"};
            if (schema.contains("items"))
                return {"array"};
            return {};
        }
        const json& type = schema["type"];
        const json list = type.is_array() ? type : json::array({type});
        std::vector<std::string> names;
        for (const json& one : list) {
            if (!one.is_string() ||
                std::ranges::find(types, one.get<std::string>()) == std::end(types))
                refuse(within(where, "type"),
                       "expected object, array, string, number, integer, boolean "
                       "or null, found " +
                           one.dump(-1, ' ', false, json::error_handler_t::replace));
            names.push_back(one.get<std::string>());
        }
        if (names.empty())
            refuse(within(where, "type"), "expected a type");
        return names;
    }
    shapes::value of_type(const std::string& type, const json& schema, const std::string& where,
                          std::vector<std::string_view>& known) {
        shapes::value v;
        if (type == "object") {
            known.insert(known.end(), {"properties", "required", "additionalProperties"});
            v.object = part(schema, where, false);
        } else if (type == "array") {
            known.insert(known.end(), {"items", "minItems", "maxItems"});
            v.array = part(schema, where, true);
        } else if (type == "string") {
            known.insert(known.end(), {"minLength", "maxLength"});
            v.string = number(out_.strings.size());
            const auto [least, most] =
                range(schema, "minLength", "maxLength", limits_.longest, where);
            out_.strings.push_back({least, most});
        } else {
            v.number = type == "number";
            v.integer = type == "integer";
            v.yes = v.no = type == "boolean";
            v.null = type == "null";
        }
        return v;
    }

    [[nodiscard]] std::uint16_t part(const json& schema, const std::string& where, bool array) {
        auto& parts = array ? arrays_ : objects_;
        if (const auto known = parts.find(&schema); known != parts.end())
            return known->second;
        const std::uint16_t self = number(array ? out_.arrays.size() : out_.objects.size());
        if (array)
            out_.arrays.emplace_back();
        else
            out_.objects.emplace_back();
        parts.emplace(&schema, self);
        later_.push_back({&schema, where, self, array});
        return self;
    }
    void read_object(const task& t) {
        const json& schema = *t.schema;
        shapes::object o;
        const json no_names = json::object(), nothing = json::array();
        const json& named = at(schema, "properties", no_names);
        if (!named.is_object() || named.size() > most_properties)
            refuse(within(t.where, "properties"),
                   "expected an object of at most " + std::to_string(most_properties) + " fields");
        const json& required = at(schema, "required", nothing);
        if (!required.is_array() || required.size() > most_properties)
            refuse(within(t.where, "required"), "expected a list of names");
        for (const json& one : required)
            if (!one.is_string() || !named.contains(one.get<std::string>()))
                refuse(within(t.where, "required"), "expected names in properties");
        if (named.empty()) {
            const json& others = at(schema, "additionalProperties", anything_);
            if (others != json(false))
                o.others = value_at(others, within(t.where, "additionalProperties"));
        }
        for (const auto& [name, inner] : named.items())
            o.properties.push_back({json(name).dump(), value_at(inner, within(t.where, name)),
                                    std::ranges::find(required, json(name)) != required.end()});
        out_.objects[t.part] = std::move(o);
    }
    void read_array(const task& t) {
        const json& schema = *t.schema;
        shapes::array a;
        const auto [least, most] =
            range(schema, "minItems", "maxItems", limits_.most_members, t.where);
        a.least = least;
        a.most = most;
        a.items =
            schema.contains("items") ? value_at(schema["items"], within(t.where, "items")) : any();
        out_.arrays[t.part] = a;
    }
    [[nodiscard]] static std::pair<std::uint16_t, std::uint16_t>
    range(const json& schema, const char* low, const char* high, std::uint16_t limit,
          const std::string& where) {
        const auto count = [&](const char* name, std::size_t usual) {
            if (!schema.contains(name))
                return usual;
            if (!schema[name].is_number_unsigned())
                refuse(within(where, name), "expected a whole number");
            return schema[name].get<std::size_t>();
        };
        const std::size_t least = count(low, 0), most = count(high, limit);
        if (least > std::min<std::size_t>(most, limit))
            refuse(within(where, low),
                   "expected at most " + std::to_string(std::min<std::size_t>(most, limit)));
        return {number(least), number(std::min<std::size_t>(most, limit))};
    }

    shapes::value alternatives(const json& list, const std::string& where, std::size_t references) {
        if (!list.is_array() || list.empty())
            refuse(where, "expected a list of schemas, not empty");
        if (references == most_references)
            refuse(where, "expected a reference that does not lead to itself");
        shapes::value all;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string one = where + "[" + std::to_string(i) + "]";
            add(all, shape_of(list[i], one, references + 1), one);
        }
        return all;
    }
    /// Scalars, as JSON writes them.
    shapes::value texts(const json& schema, const json& list, const std::string& where) {
        if (!list.is_array() || list.empty())
            refuse(where, "expected a list, not empty");
        const std::vector<std::string> allowed =
            schema.contains("type") ? types_of(schema, where) : std::vector<std::string>();
        std::vector<std::string> all;
        for (const json& one : list) {
            if (one.is_structured())
                refuse(where, "expected texts, numbers, true, false or null");
            const bool fits =
                allowed.empty() || std::ranges::any_of(allowed, [&](const auto& type) {
                    return type == one.type_name() ||
                           (type == "integer" && one.is_number_integer());
                });
            std::string text = one.dump(-1, ' ', false, json::error_handler_t::replace);
            if (fits && std::ranges::find(all, text) == all.end())
                all.push_back(std::move(text));
            if (++texts_ > most_values)
                refuse(where, "expected at most " + std::to_string(most_values) + " values in all");
        }
        if (all.empty())
            refuse(where, "expected a value of the type");
        shapes::value v;
        v.texts = number(out_.texts.size());
        out_.texts.push_back(std::move(all));
        return v;
    }

    /// Joins the alternatives of two values.
    void add(shapes::value& to, const shapes::value& from, const std::string& where) {
        if ((first_bytes(to) & first_bytes(from)).any())
            refuse(where, "expected alternatives that begin with different characters");
        const auto take = [](std::uint16_t& part, std::uint16_t other) {
            if (part == shapes::none)
                part = other;
        };
        take(to.object, from.object);
        take(to.array, from.array);
        take(to.string, from.string);
        if (to.texts != shapes::none && from.texts != shapes::none) {
            std::vector<std::string>& more = out_.texts[from.texts]; // read by nobody else
            std::ranges::move(more, std::back_inserter(out_.texts[to.texts]));
            more.clear();
        }
        take(to.texts, from.texts);
        to.number = to.number || from.number;
        to.integer = to.integer || from.integer;
        to.yes = to.yes || from.yes;
        to.no = to.no || from.no;
        to.null = to.null || from.null;
    }
    [[nodiscard]] bytes first_bytes(const shapes::value& v) const {
        bytes set;
        const auto put = [&](bool there, std::string_view all) {
            for (const char c : all)
                set[static_cast<unsigned char>(c)] = set[static_cast<unsigned char>(c)] || there;
        };
        put(v.object != shapes::none, "{");
        put(v.array != shapes::none, "[");
        put(v.string != shapes::none, "\"");
        put(v.number || v.integer, "-0123456789");
        put(v.yes, "t");
        put(v.no, "f");
        put(v.null, "n");
        if (v.texts != shapes::none)
            for (const std::string& text : out_.texts[v.texts])
                put(true, std::string_view(text).substr(0, 1));
        return set;
    }

    [[nodiscard]] std::uint16_t any() {
        if (any_ == shapes::none)
            any_ = out_.add_any();
        return any_;
    }
    shapes::value anything() { return out_.values[any()]; }

    [[nodiscard]] const json& referred(const json& to, const std::string& where) const {
        if (to.is_string() && to.get<std::string>().starts_with('#'))
            try {
                return root_.at(json::json_pointer(to.get<std::string>().substr(1)));
            } catch (const json::exception&) { // refused below
            }
        refuse(where, "expected # and a path within the schema, such as #/$defs/NAME");
    }
    static void expect_keywords(const json& schema, const std::string& where,
                                std::span<const std::string_view> known) {
        for (const auto& [name, unused] : schema.items())
            if (std::ranges::find(known, name) == known.end() &&
                std::ranges::find(said_only, name) == std::end(said_only))
                refuse(within(where, name),
                       "expected no such keyword there; this server follows "
                       "type, properties, required, additionalProperties, "
                       "items, minItems, maxItems, minLength, maxLength, enum, "
                       "const, anyOf, oneOf and $ref");
    }

    /// Levels that parts have at least: what contains itself may not end.
    void measure() {
        for (shapes::object& o : out_.objects)
            o.levels = shapes::endless;
        for (shapes::array& a : out_.arrays)
            a.levels = shapes::endless;
        const auto above = [](std::uint8_t inner) {
            return inner == shapes::endless ? inner : static_cast<std::uint8_t>(inner + 1);
        };
        for (std::size_t round = 0; round < json_limits::deepest_of_all; ++round) {
            for (shapes::object& o : out_.objects) {
                std::uint8_t inner = 0;
                for (const shapes::property& p : o.properties)
                    if (p.required)
                        inner = std::max(inner, out_.levels(p.value));
                o.levels = above(inner);
            }
            for (shapes::array& a : out_.arrays)
                a.levels = above(a.least > 0 ? out_.levels(a.items) : std::uint8_t{0});
        }
    }

    const json& root_;
    const json anything_ = true;
    const json_limits& limits_;
    std::string where_;
    json_shapes out_{};
    std::map<const json*, std::uint16_t> values_{}, objects_{}, arrays_{};
    std::deque<task> later_{};
    std::uint16_t any_ = shapes::none;
    std::size_t texts_ = 0; // of enumerations
};

} // namespace

json_shapes read_json_schema(const nlohmann::ordered_json& schema, const json_limits& limits,
                             const std::string& where) {
    return reader(schema, limits, where).read();
}

} // namespace specdec::examples
