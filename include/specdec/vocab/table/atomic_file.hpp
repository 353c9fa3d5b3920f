// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

/// Whole files, read and replaced: with POSIX, or with Windows, where paths are UTF-8.
/// Errors: specdec::error(path, "file", what went wrong and why).
namespace specdec {

/// Whether there is anything at the path. What is there and cannot be read, a broken link for
/// example, is no file that is left out: who opens it gets the reason.
[[nodiscard]] bool is_there(const std::string& path);

/// The bytes of a file.
[[nodiscard]] std::string read_file(const std::string& path);

/// Puts a file with these bytes in the place of whatever is there: they are written to a temporary
/// file PATH.PROCESS.tmp in the same folder, flushed to the disk and renamed. A reader, and a
/// machine that loses power, finds the old bytes or the new ones; where anything fails the old ones
/// stay and the temporary file goes. A symbolic link is replaced, not followed. Several writers of
/// one path may be at work at a time: the last to end wins. What a killed writer has left goes with
/// the next replacement of the same path, on file systems with locks.
void replace_file(const std::string& path, std::string_view bytes);

/// Errors where replace_file() would not begin to write; whether the disk has room for the bytes is
/// not known before.
void expect_replaceable(const std::string& path);

} // namespace specdec

#if defined(_WIN32)
#include <specdec/vocab/table/atomic_file_windows.hpp>
#else
#include <specdec/vocab/table/atomic_file_posix.hpp>
#endif
