// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception> // std::exception
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error> // std::error_code

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec/vocab/table/file_content.hpp>

namespace specdec::engine {

using specdec::is_there;

/// Whether there is a folder; where that cannot be told, who opens the path gets the reason.
[[nodiscard]] inline bool is_folder(const std::filesystem::path& path) {
    std::error_code code;
    return std::filesystem::is_directory(path, code);
}

/// Makes a folder, and those above it, where there is none. Errors: specdec::error.
inline void make_folder(const std::filesystem::path& path) {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code)
        throw error(path.string(), "folder", "cannot be made: " + code.message());
}

/// A file, mapped read-only. The bytes live as long as the object (moving it does not move them).
/// Errors: specdec::error for a file that is missing, unreadable, empty, no regular file or a
/// git-lfs pointer. Not for
/// one that is cut while it is mapped, which the system answers with SIGBUS: give it a new file
/// (std::rename), not a new content.
class mapped_file {
public:
    explicit mapped_file(const std::filesystem::path& path) : source_(path.string()) {
        std::error_code code;
        const auto type = std::filesystem::status(path, code).type();
        if (type != std::filesystem::file_type::regular)
            throw error(source_, "file",
                        "expected a readable file: " +
                            (code ? code.message()
                             : type == std::filesystem::file_type::directory
                                 ? "Is a directory"
                                 : "not a regular file"));
        if (std::filesystem::file_size(path, code) == 0 || code)
            throw error(source_, "file", "expected content, it is empty or cannot be read");
        try {
            namespace ipc = boost::interprocess;
            const ipc::file_mapping file(source_.c_str(), ipc::read_only);
            region_ = ipc::mapped_region(file, ipc::read_only);
        } catch (const std::exception& cause) {
            throw error(source_, "file", std::string("cannot be mapped: ") + cause.what());
        }
        expect_content(text(), source_);
    }

    [[nodiscard]] std::span<const std::byte> bytes() const {
        return {static_cast<const std::byte*>(region_.get_address()), region_.get_size()};
    }
    [[nodiscard]] std::string_view text() const {
        return {static_cast<const char*>(region_.get_address()), region_.get_size()};
    }
    /// The path as it was given, for messages.
    [[nodiscard]] const std::string& source() const { return source_; }

private:
    std::string source_;
    boost::interprocess::mapped_region region_;
};

} // namespace specdec::engine
