// SPDX-License-Identifier: MIT
#include <specdec_engine/file/mapped_file.hpp>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"

using specdec::engine::mapped_file;

TEST_CASE("a mapped file shows its bytes and stays where it is when moved") {
    const toy::temporary_folder folder;
    mapped_file file(folder.write("a.bin", "hello"));
    const std::byte* where = file.bytes().data();
    const mapped_file moved = std::move(file);
    REQUIRE(moved.bytes().size() == 5);
    CHECK(moved.bytes().data() == where);
    CHECK(moved.bytes()[0] == std::byte{'h'});
    CHECK(moved.source().find("a.bin") != std::string::npos);
}

TEST_CASE("missing, empty and irregular files are errors that name the path") {
    const toy::temporary_folder folder;
    CHECK_THROWS_WITH(mapped_file(folder.path() / "none"), Catch::Contains("none: file: expected"));
    CHECK_THROWS_WITH(mapped_file(folder.write("empty", "")), Catch::Contains("empty: file:"));
    CHECK_THROWS_AS(mapped_file(folder.path()), specdec::error);
    CHECK_THROWS_WITH(mapped_file(folder.path()), Catch::Contains("Is a directory"));
    const auto loop = folder.path() / "loop";
    std::filesystem::create_symlink(loop, loop);
    CHECK_THROWS_WITH(mapped_file(loop),
                      Catch::Contains("loop: file: expected a readable file: ") &&
                          Catch::Contains("symbolic links"));
    CHECK(specdec::engine::is_there(loop));
    CHECK(!specdec::engine::is_there(folder.path() / "none"));
    CHECK(!specdec::engine::is_folder(loop));
    CHECK(specdec::engine::is_folder(folder.path()));
}

TEST_CASE("a git-lfs pointer is named as one, whatever it stands for") {
    const toy::temporary_folder folder;
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\n"
                                "oid sha256:" +
                                std::string(64, '0') + "\nsize 10957216\n";
    for (const char* name : {"model.safetensors", "tokenizer.json", "m.gguf", "m.bin"})
        CHECK_THROWS_WITH(mapped_file(folder.write(name, pointer)),
                          Catch::Contains(std::string(name) + ": file: expected its content") &&
                              Catch::Contains("git lfs pull"));
    CHECK_THROWS_WITH(specdec::read_file((folder.path() / "m.bin").string()),
                      Catch::Contains("m.bin: file: expected its content"));
    CHECK_NOTHROW(mapped_file(folder.write("notes", "version 1")));
}
