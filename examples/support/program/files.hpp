// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

/// What programs read and write, with errors that name it and say why.
namespace specdec::examples {

/// What a file or a pipe holds, at most so many MiB. Errors: specdec::error that names the path and
/// says why it cannot be read, also of a pipe that nobody writes to.
[[nodiscard]] std::string read_input(const std::string& path, std::size_t mebibytes = 1024);
/// What standard input holds, at most 16 MiB: a text that somebody typed or piped.
[[nodiscard]] std::string read_standard_input();
/// use(bytes) for what a file or a pipe of any size holds, in blocks of at most 64 KiB, until it
/// returns false. Errors: as read_input; what `use` throws.
void read_blocks(const std::string& path, const std::function<bool(std::string_view)>& use);

/// Why nothing can be found at the path; empty where there is something.
[[nodiscard]] std::string why_missing(const std::filesystem::path& path);

/// To be asked before the work whose outcome replace_file() shall write there. Errors:
/// specdec::error that names the flag and the path and says why it cannot be written.
void expect_writable(const std::string& flag, const std::string& path);

/// Errors: specdec::error that names the flag, where what is written would take the place of what
/// is read.
void expect_other_file(const std::string& flag, const std::string& written,
                       const std::string& read);

/// Writes out what was printed. Errors: specdec::error that names standard output, for anything
/// printed since the program began.
void flush_output();

/// A standard stream that was closed by whoever started the program stays a place that nothing can
/// be read from or written to; otherwise the next file that is opened would take its part.
void keep_standard_streams();

} // namespace specdec::examples
