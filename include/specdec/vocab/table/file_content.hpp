// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <specdec/core/error.hpp>

namespace specdec {

/// Whoever reads a file asks this of its first bytes. Errors: for what git leaves in the place of a
/// large file until git-lfs fetches it.
inline void expect_content(std::string_view bytes, const std::string& path) {
    if (bytes.starts_with("version https://git-lfs.github.com/spec/"))
        fail(path, "file",
             "expected its content, this is a git-lfs pointer to it: fetch it with git lfs pull");
}

} // namespace specdec
