// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace specdec::testing {

/// A folder of its own below the system's for temporary files, whatever else runs; gone with the
/// object.
class temporary_folder {
public:
    temporary_folder() {
        std::random_device names;
        do
            path_ = std::filesystem::temp_directory_path() /
                    ("specdec-" + std::to_string(names()) + std::to_string(names()));
        while (!std::filesystem::create_directory(path_));
    }
    ~temporary_folder() { std::filesystem::remove_all(path_); }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

} // namespace specdec::testing
