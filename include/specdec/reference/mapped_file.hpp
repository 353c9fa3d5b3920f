// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception> // std::exception
#include <filesystem>
#include <span>
#include <string>

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>

#include <specdec/core/error.hpp>

namespace specdec::reference {

/// A file, mapped read-only. The bytes live as long as the object (moving it does not move them).
/// Errors: specdec::error for a file that is missing, unreadable, empty or no regular file.
class mapped_file {
public:
    explicit mapped_file(const std::filesystem::path& path) : source_(path.string()) {
        std::error_code code;
        if (!std::filesystem::is_regular_file(path, code))
            throw error(source_, "file", "expected a readable file, there is none");
        if (std::filesystem::file_size(path, code) == 0 || code)
            throw error(source_, "file", "expected content, it is empty or cannot be read");
        try {
            namespace ipc = boost::interprocess;
            const ipc::file_mapping file(source_.c_str(), ipc::read_only);
            region_ = ipc::mapped_region(file, ipc::read_only);
        } catch (const std::exception& cause) {
            throw error(source_, "file", std::string("cannot be mapped: ") + cause.what());
        }
    }

    [[nodiscard]] std::span<const std::byte> bytes() const {
        return {static_cast<const std::byte*>(region_.get_address()), region_.get_size()};
    }
    /// The path as it was given, for messages.
    [[nodiscard]] const std::string& source() const { return source_; }

private:
    std::string source_;
    boost::interprocess::mapped_region region_;
};

} // namespace specdec::reference
