// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <exception>
#include <new>

#include <CLI/CLI.hpp>

namespace specdec::examples {

/// The frame of a program: reads the flags, runs the body, says what went wrong. Returns what main
/// returns: 1 for every error.
template <class Body>
int run_program(CLI::App& app, int argc, char** argv, Body&& body) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& problem) { // --help, too
        return app.exit(problem) == 0 ? 0 : 1;
    }
    try {
        body();
        return 0;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s: not enough memory\n", app.get_name().c_str());
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), problem.what());
    }
    return 1;
}

} // namespace specdec::examples
