// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>

#include "support/console.hpp"
#include "support/files.hpp"
#include "support/interrupt.hpp"

namespace specdec::examples {

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
