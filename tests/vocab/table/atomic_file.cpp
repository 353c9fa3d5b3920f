// SPDX-License-Identifier: MIT
// What holds on every system; what only POSIX has is tested with the files of n-gram caches.
#include <specdec/vocab/table/atomic_file.hpp>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

#include "support/temporary_folder.hpp"

namespace atomic_file_tests {

using namespace specdec;
namespace fs = std::filesystem;

struct scratch {
    specdec::testing::temporary_folder folder{};
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder.path() / name).string();
    }
    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
    }
};

std::string message(auto&& act) {
    try {
        act();
    } catch (const error& problem) {
        return problem.what();
    }
    return "";
}

TEST_CASE("a file is what was put in its place, byte for byte") {
    const scratch here;
    const std::string path = here.path("notes");
    CHECK_FALSE(is_there(path));
    std::string bytes("a\r\nb\0\x1a\xff", 7);
    replace_file(path, bytes);
    CHECK(is_there(path));
    CHECK(read_file(path) == bytes);
    bytes.assign(100'000, 'x');
    replace_file(path, bytes);
    CHECK(read_file(path) == bytes);
    replace_file(path, "");
    CHECK(read_file(path).empty());
    CHECK(here.files() == 1);
}

TEST_CASE("names of files are UTF-8") {
    const scratch here;
    const std::string name = here.path("t") + "\xc3\xa9\xe2\x82\xac";
    replace_file(name, "text");
    CHECK(read_file(name) == "text");
    CHECK(fs::exists(fs::path(std::u8string(name.begin(), name.end()))));
}

TEST_CASE("what cannot be read or replaced is named") {
    const scratch here;
    const std::string none = here.path("none"), folder = here.path("folder");
    fs::create_directory(folder);
    CHECK(message([&] { (void)read_file(none); }).find(none) != std::string::npos);
    CHECK(message([&] { (void)read_file(folder); }).find(folder) != std::string::npos);
    CHECK(message([&] { replace_file(folder, "x"); }).find(folder) != std::string::npos);
    CHECK(message([&] { expect_replaceable(folder); }).find(folder) != std::string::npos);
    const std::string nowhere = here.path("nowhere") + "/file";
    CHECK_FALSE(is_there(nowhere));
    CHECK(message([&] { replace_file(nowhere, "x"); }).find(nowhere) != std::string::npos);
    CHECK(here.files() == 1);
}

TEST_CASE("a file that could be replaced stays as it is") {
    const scratch here;
    const std::string path = here.path("file");
    replace_file(path, "old");
    expect_replaceable(path);
    CHECK(read_file(path) == "old");
    CHECK(here.files() == 1);
}

TEST_CASE("what a killed writer left goes with the next replacement, other files stay") {
    const scratch here;
    const std::string path = here.path("file");
    here.folder.write("file.123456.tmp", "half");
    here.folder.write("file.12x.tmp", "a user's");
    here.folder.write("other.123456.tmp", "another's");
    replace_file(path, "new");
    CHECK_FALSE(is_there(path + ".123456.tmp"));
    CHECK(is_there(path + ".12x.tmp"));
    CHECK(is_there(here.path("other.123456.tmp")));
}

TEST_CASE("threads that replace one file at a time leave a whole one") {
    const scratch here;
    const std::string path = here.path("file");
    std::vector<std::thread> writers;
    for (const char c : {'a', 'b', 'c'})
        writers.emplace_back([&path, c] {
            for (int i = 0; i < 10; ++i)
                replace_file(path, std::string(10'000, c));
        });
    for (std::thread& writer : writers)
        writer.join();
    const std::string bytes = read_file(path);
    CHECK(bytes.size() == 10'000);
    CHECK(bytes == std::string(bytes.size(), bytes[0]));
    CHECK(here.files() == 1);
}

} // namespace atomic_file_tests
