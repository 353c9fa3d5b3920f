// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include <specdec/core/error.hpp>

/// Flags with numbers and lists, read to the last character: what a number does not hold is refused
/// by the flag's name, never cut, wrapped or left out.
namespace specdec::examples {

template <class T>
struct number_range {
    T low, high;
    bool above_low = false;        ///< low itself is none of them
    std::string_view high_is = {}; ///< what the highest number is, for errors
};

/// The parts of a list, empty ones, too.
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t end = text.find(',');
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

/// The number that is the whole text, if it is in the range.
template <class T>
[[nodiscard]] std::optional<T> read_number(std::string_view text, const number_range<T>& range) {
    T value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || !(value >= range.low) ||
        !(value <= range.high) || (range.above_low && value == range.low))
        return std::nullopt;
    return value + T{}; // no -0
}

namespace detail {

template <class V>
struct flag_value {
    using number = V;
};
template <class T>
struct flag_value<std::optional<T>> {
    using number = T;
};
template <class T>
struct flag_value<std::vector<T>> {
    using number = T;
    static constexpr bool list = true;
};

} // namespace detail

/// A flag for a number, a number or none, or numbers with commas between them; the first of the
/// names is that of errors.
template <class V>
CLI::Option* add_number(CLI::App& app, const std::string& names, V& value,
                        number_range<typename detail::flag_value<V>::number> range,
                        const std::string& help) {
    using number = typename detail::flag_value<V>::number;
    constexpr bool list = requires { detail::flag_value<V>::list; };
    const std::string name = names.substr(names.find("--"));
    const auto read = [name, range](const std::string& text) {
        if (const std::optional<number> n = read_number(text, range))
            return *n;
        std::ostringstream expected;
        expected << "expected a " << (std::integral<number> ? "whole " : "") << "number "
                 << (range.above_low ? "above " : "from ") << range.low
                 << (range.above_low ? " and at most " : " to ") << range.high
                 << (range.high_is.empty() ? "" : ", ") << range.high_is << ", found \"" << text
                 << '"';
        throw CLI::ValidationError(name, expected.str());
    };
    const std::string type = std::integral<number> ? "INT" : "FLOAT";
    return app
        .add_option_function<std::string>(
            names,
            [&value, read](const std::string& text) {
                if constexpr (list) {
                    value.clear();
                    for (const std::string& part : split_list(text))
                        value.push_back(read(part));
                } else {
                    value = read(text);
                }
            },
            help)
        ->type_name(list ? type + ",..." : type);
}

/// A flag for words with commas between them.
inline CLI::Option* add_words(CLI::App& app, const std::string& name,
                              std::vector<std::string>& value, const std::string& help) {
    return app
        .add_option_function<std::string>(
            name, [&value](const std::string& text) { value = split_list(text); }, help)
        ->type_name("TEXT,...");
}

/// A flag that a user gave, for errors where it would do nothing.
struct given_flag {
    std::string name, value;
};
/// Those of some flags that were given.
[[nodiscard]] inline std::vector<given_flag> given_of(const CLI::App& app,
                                                      std::initializer_list<const char*> names) {
    std::vector<given_flag> given;
    for (const char* name : names)
        if (const CLI::Option& option = *app.get_option(name); option.count() > 0)
            given.push_back({name, option.results().back()});
    return given;
}

/// Errors: specdec::error that names the first of these flags.
inline void expect_none(const std::vector<given_flag>& given, const char* why) {
    if (!given.empty())
        throw error(given.front().name, given.front().value, why);
}

/// Threads: 0 for one a core, and no more than that, since more would wait for each other.
[[nodiscard]] inline number_range<std::size_t> any_threads() {
    const std::size_t cores = std::thread::hardware_concurrency(); // 0: not known
    return {0, cores > 0 ? cores : 1024, false, "the cores of this machine"};
}

constexpr number_range<std::uint64_t> any_seed{0, std::numeric_limits<std::uint64_t>::max()};
constexpr number_range<std::size_t> any_count{0, 1'000'000'000};
constexpr number_range<double> any_share{0, 1};
constexpr number_range<float> any_temperature{0, 1e6F};

} // namespace specdec::examples
