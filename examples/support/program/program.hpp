// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include "support/program/interrupt.hpp"

namespace specdec::examples {

/// Refuses `--flag=` with nothing behind it, which CLI11 would fill with the next argument.
inline void refuse_open_ends(const CLI::App& app, int argc, const char* const* argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view text = argv[i];
        if (!text.starts_with("--") || text.find('=') != text.size() - 1)
            continue;
        const std::string flag(text.substr(0, text.size() - 1));
        if (app.get_option_no_throw(flag) != nullptr)
            throw CLI::ValidationError(flag, "expected a value after =");
    }
}

/// Lets the app refuse flags and names that are given without a value, as `--cache "$FILE"` is
/// where nothing set FILE, and `--cache --json`. Nobody means them, and what stands for "not given"
/// would be done instead, or a file written that is called --json. Before it is parsed, so that the
/// app says this first, then which flags are missing.
inline void refuse_empty_values(CLI::App& app) {
    for (CLI::Option* option : app.get_options())
        option->check([&app](const std::string& value) -> std::string {
            if (value.empty())
                return "expected a value, found \"\"";
            if (value.size() > 1 && value[0] == '-' && app.get_option_no_throw(value) != nullptr)
                return "expected a value, found the flag " + value;
            return "";
        });
}

/// The frame of a program: reads the flags, runs the body, says what went wrong. Returns what main
/// returns: 1 for every error, also of the output; 128 and the signal's number after a signal.
template <class Body>
int run_program(CLI::App& app, int argc, char** argv, Body&& body) {
    const auto say = [&app](const std::string& what) {
        std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), visible(what).c_str());
    };
    keep_standard_streams();
    try {
        try {
            refuse_open_ends(app, argc, argv);
            refuse_empty_values(app);
            app.parse(argc, argv);
            body();
        } catch (const CLI::ParseError& problem) {
            std::ostringstream help, other;
            if (app.exit(problem, help, other) != 0)
                throw;
            std::fputs(help.str().c_str(), stdout);
        }
        flush_output();
        if (interrupted() == 0)
            return 0;
        say("interrupted");
        return 128 + interrupted();
    } catch (const std::bad_alloc&) {
        say("not enough memory");
    } catch (const std::exception& problem) {
        say(problem.what());
    }
    return interrupted() == 0 ? 1 : 128 + interrupted();
}

} // namespace specdec::examples
