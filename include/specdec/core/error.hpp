// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept> // std::runtime_error
#include <string>

namespace specdec {

/// What every part of the library throws for bad input: files, tables, prompts, settings.
/// The text names the source (a file, an argument), the field in it, and what was expected there,
/// in the form "SOURCE: FIELD: EXPECTED". The hot path (a round) throws nothing of its own.
class error : public std::runtime_error {
public:
    explicit error(const std::string& what) : std::runtime_error(what) {}
    error(const std::string& source, const std::string& field, const std::string& expected)
        : std::runtime_error(source + ": " + field + ": " + expected) {}
};

} // namespace specdec
