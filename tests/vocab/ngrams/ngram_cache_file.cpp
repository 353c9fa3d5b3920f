// SPDX-License-Identifier: MIT
#include <specdec/vocab/ngrams/ngram_cache_file.hpp>

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/vocab/ngrams/ngram_cache_bytes.hpp>

#include "support/temporary_folder.hpp"

namespace ngram_cache_file_tests {

using namespace specdec;
namespace fs = std::filesystem;
using ids = std::vector<draft_id>;

constexpr ngram_cache_settings settings{
    .capacity = 40, .longest = 5, .draft_fingerprint = 0x1234, .target_fingerprint = 0x5678};

/// An endless random use of a cache; two caches in the same state, used alike, stay so.
class random_use {
public:
    explicit random_use(std::uint64_t seed) : bits_(seed) {}

    template <class Cache>
    void operator()(Cache& cache, int steps) {
        for (; steps > 0; --steps) {
            ids d;
            for (std::size_t n = 2 + bits_() % 4; n > 0; --n)
                d.emplace_back(static_cast<std::int32_t>(bits_() % 4));
            if (bits_() % 2 == 0)
                cache.insert(d, target_id{static_cast<std::int32_t>(bits_() % 2)});
            else
                cache.use(d);
            cache.count_tokens(3);
        }
    }

private:
    std::mt19937_64 bits_;
};

template <class Eviction>
ngram_cache<Eviction> used_cache() {
    ngram_cache<Eviction> cache(settings);
    random_use{1}(cache, 3000);
    return cache;
}

struct scratch_folder {
    specdec::testing::temporary_folder folder{};
    const fs::path& path = folder.path();
    std::string file() const { return (path / "cache").string(); }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

std::string message(const std::string& bytes, const ngram_cache_settings& expected = settings) {
    try {
        static_cast<void>(ngram_cache_codec::read<lru>(bytes, "FILE", expected));
    } catch (const error& problem) {
        return problem.what();
    }
    return "read";
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
        bytes[at + i] = static_cast<char>(value >> (8 * i));
}

/// The checksum, stated apart from the header.
void seal(std::string& bytes) {
    const std::size_t size = bytes.size() - 8;
    std::uint64_t hash = 0xcbf29ce484222325u ^ size;
    for (std::size_t i = 0; i < size; ++i) {
        hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    put(bytes, size, hash, 8);
}

constexpr std::size_t head_size = 16 + 4 + 4 + 9 * 8;

/// Two n-grams, {7, 8} (the newer) and {7, 8, 9}, of 24 and 28 bytes.
std::string two_ngrams() {
    ngram_cache<lru> cache(settings);
    cache.insert(ids{draft_id{7}, draft_id{8}, draft_id{9}}, target_id{1});
    cache.insert(ids{draft_id{7}, draft_id{8}}, target_id{2});
    return ngram_cache_codec::write(cache);
}

TEMPLATE_TEST_CASE("saved n-gram caches behave as those that were saved", "", no_eviction, lru,
                   lfu) {
    const scratch_folder folder;
    ngram_cache<TestType> cache = used_cache<TestType>();
    REQUIRE(cache.size() == 40);
    save_ngram_cache(cache, folder.file());
    ngram_cache<TestType> loaded = load_ngram_cache<TestType>(folder.file(), settings);
    const auto bytes = [](const auto& c) { return ngram_cache_codec::write(c); };
    REQUIRE(bytes(loaded) == bytes(cache));
    CHECK(loaded.counts().hits == cache.counts().hits);
    CHECK(loaded.counts().inserts == cache.counts().inserts);
    CHECK(loaded.counts().evictions == cache.counts().evictions);
    CHECK(loaded.counts().tokens == 9000);
    CHECK(loaded.longest() == cache.longest());
    CHECK(loaded.capacity() == 40);
    CHECK(loaded.settings().longest == 5);
    CHECK(loaded.settings().draft_fingerprint == 0x1234);
    for (std::uint64_t seed = 2; seed < 40; ++seed) {
        random_use{seed}(cache, 20);
        random_use{seed}(loaded, 20);
        REQUIRE(bytes(loaded) == bytes(cache));
    }
    save_ngram_cache(ngram_cache<TestType>(settings), folder.file()); // an empty one, too
    CHECK(load_ngram_cache<TestType>(folder.file(), settings).size() == 0);
    CHECK(folder.files() == 1);
}

TEST_CASE("saved n-gram caches: the bytes of version 1, on every machine") {
    ngram_cache<lru> cache({.capacity = 0x0102,
                            .longest = 4,
                            .draft_fingerprint = 0x11,
                            .target_fingerprint = 0x8877665544332211});
    cache.insert(ids{draft_id{7}, draft_id{0x01020304}}, target_id{9});
    cache.use(ids{draft_id{7}, draft_id{0x01020304}});
    cache.count_tokens(5);
    std::string expected = "specdec n-grams\n";
    const auto add = [&expected](std::uint64_t value, std::size_t size) {
        expected.append(size, '\0');
        put(expected, expected.size() - size, value, size);
    };
    add(1, 4);
    expected += "lru ";
    for (const std::uint64_t field :
         {std::uint64_t{0x11}, std::uint64_t{0x8877665544332211}, std::uint64_t{0x0102},
          std::uint64_t{4}, std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{5},
          std::uint64_t{1}})
        add(field, 8);
    for (const std::uint64_t field : {0U, 2U, 9U, 2U, 7U, 0x01020304U})
        add(field, 4);
    add(0, 8);
    seal(expected);
    CHECK(ngram_cache_codec::write(cache) == expected);
}

TEST_CASE("saved n-gram caches: torn ones are refused, wherever they end") {
    const std::string whole = ngram_cache_codec::write(used_cache<lru>());
    REQUIRE(message(whole) == "read");
    for (std::size_t size = 0; size < whole.size(); ++size)
        REQUIRE(message(whole.substr(0, size)).starts_with("FILE: "));
    CHECK(message("") == "FILE: magic: expected the bytes of a saved n-gram cache");
    CHECK(message(whole.substr(0, whole.size() - 1)) ==
          "FILE: checksum: expected the checksum of the bytes before it, the file is torn or "
          "corrupt");
    CHECK(message(whole.substr(0, 22)) == "FILE: checksum: expected a whole file, it is torn");
    CHECK(message(whole + '\0') == "FILE: checksum: expected the checksum of the bytes before it, "
                                   "the file is torn or corrupt");
}

TEST_CASE("saved n-gram caches: every wrong byte is seen") {
    const std::string whole = two_ngrams();
    for (std::size_t i = 0; i < whole.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            std::string wrong = whole;
            wrong[i] = static_cast<char>(wrong[i] ^ (1 << bit));
            REQUIRE(message(wrong) != "read");
        }
}

TEST_CASE("saved n-gram caches: outdated and foreign ones are told from corrupt ones") {
    std::string bytes = two_ngrams();
    put(bytes, 16, 2, 4); // a later version need not even have its checksum here
    CHECK(message(bytes) == "FILE: version: expected 1, the file has 2");

    bytes = two_ngrams();
    CHECK(message(bytes, {.draft_fingerprint = 1, .target_fingerprint = 0x5678}) ==
          "FILE: draft fingerprint: expected the drafter's vocabulary, the cache was learned with "
          "another");
    CHECK(message(bytes, {.draft_fingerprint = 0x1234}) ==
          "FILE: target fingerprint: expected the target's vocabulary, the cache was learned with "
          "another");
    CHECK(message(ngram_cache_codec::write(used_cache<lfu>())) ==
          "FILE: eviction policy: expected lru , the file has lfu ");
}

TEST_CASE("saved n-gram caches: contents that no cache has, under a right checksum") {
    const auto changed = [](std::size_t at, std::uint64_t value, std::size_t size) {
        std::string bytes = two_ngrams();
        put(bytes, at, value, size);
        seal(bytes);
        return message(bytes);
    };
    const std::size_t first = head_size, second = head_size + 24;
    CHECK(changed(40, 0xffffffff, 8) ==
          "FILE: capacity: expected at most 4294967294, the file has 4294967295");
    CHECK(changed(40, 1, 8) == "FILE: number of n-grams: expected at most 1, the file has 2");
    CHECK(changed(48, 65, 8) == "FILE: longest: expected at most 64, the file has 65");
    CHECK(changed(48, 1, 8) == "FILE: longest: expected at least 2");
    CHECK(changed(48, 2, 8) == "FILE: length: expected 2 to 2");
    CHECK(changed(88, std::uint64_t{1} << 60, 8)
              .starts_with("FILE: number of n-grams: expected at "
                           "most 2"));
    CHECK(changed(first, 2, 4) ==
          "FILE: place: expected every number below that of the n-grams once");
    CHECK(changed(second, 1, 4) ==
          "FILE: place: expected every number below that of the n-grams once");
    CHECK(changed(first + 4, 0, 4) == "FILE: frequency: expected at least 1");
    CHECK(changed(first + 8, 0xffffffff, 4) ==
          "FILE: target token: expected at most 2147483647, the file has 4294967295");
    CHECK(changed(first + 12, 1, 4) == "FILE: length: expected 2 to 5");
    CHECK(changed(second + 12, 4, 4) ==
          "FILE: draft token: expected more bytes, the file ends here");
    CHECK(changed(first + 16, 0x80000000, 4) ==
          "FILE: draft token: expected at most 2147483647, the file has 2147483648");

    std::string twice = two_ngrams();
    twice.erase(second, 28);
    twice.insert(second, twice.substr(first, 24));
    put(twice, second, 0, 4);
    seal(twice);
    CHECK(message(twice) == "FILE: draft tokens: expected every n-gram once");

    std::string more = two_ngrams();
    put(more, 88, 1, 8);
    put(more, first, 0, 4);
    seal(more);
    CHECK(message(more) == "FILE: end: expected nothing after the last n-gram");

    ngram_cache<lfu> by_frequency(settings);
    by_frequency.insert(ids{draft_id{1}, draft_id{2}}, target_id{1});
    by_frequency.insert(ids{draft_id{3}, draft_id{4}}, target_id{1});
    std::string bytes = ngram_cache_codec::write(by_frequency);
    put(bytes, first + 4, 2, 4);
    seal(bytes);
    const std::string source = "FILE";
    CHECK_THROWS_WITH(ngram_cache_codec::read<lfu>(bytes, source, settings),
                      "FILE: frequency: expected to be ascending in the order of eviction");
}

TEST_CASE("n-gram cache files: what cannot be read is named, and stays") {
    const scratch_folder folder;
    CHECK_THROWS_WITH(load_ngram_cache<lru>(folder.file(), settings),
                      folder.file() +
                          ": file: expected a readable file: No such file or directory");
    CHECK_THROWS_AS(load_ngram_cache<lru>(folder.path.string(), settings), error);
    std::ofstream(folder.file()) << "something else";
    CHECK_THROWS_WITH(load_ngram_cache<lru>(folder.file(), settings),
                      folder.file() + ": magic: expected the bytes of a saved n-gram cache");
    CHECK(read_file(folder.file()) == "something else");
}

TEST_CASE("n-gram cache files: the old file stays where the new one cannot be written") {
    const scratch_folder folder;
    const ngram_cache<lru> small(settings), large = used_cache<lru>();
    const auto both_stay = [&](const std::string& path) {
        const std::size_t files = folder.files();
        CHECK_THROWS_AS(save_ngram_cache(large, path), error);
        CHECK(folder.files() == files);
    };
    both_stay((folder.path / "missing" / "cache").string());
    fs::create_directory(folder.path / "taken");
    both_stay((folder.path / "taken").string()); // written, but cannot be renamed

    save_ngram_cache(small, folder.file());
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    getrlimit(RLIMIT_FSIZE, &old);
    rlimit limit = old;
    limit.rlim_cur = 200; // bytes: the disk is full in the middle of the file
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string problem;
    try {
        save_ngram_cache(large, folder.file());
    } catch (const error& e) {
        problem = e.what();
    }
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, old_handler);
    CHECK(problem == folder.file() + ": file: cannot be written: File too large");
    CHECK(folder.files() == 2);
    CHECK(load_ngram_cache<lru>(folder.file(), settings).size() == 0);
    save_ngram_cache(large, folder.file());
    CHECK(load_ngram_cache<lru>(folder.file(), settings).size() == 40);
}

TEST_CASE("n-gram cache files: what killed writers left goes, what living ones write stays") {
    const scratch_folder folder;
    const ngram_cache<lru> cache = used_cache<lru>();
    const pid_t writer = fork();
    REQUIRE(writer >= 0);
    if (writer == 0) { // killed before it could rename
        const detail::temporary_file half(folder.file());
        _exit(0);
    }
    waitpid(writer, nullptr, 0);
    REQUIRE(fs::exists(folder.file() + "." + std::to_string(writer) + ".tmp"));
    {
        const detail::temporary_file living(folder.file() + ".1.tmp"); // another path's
        save_ngram_cache(cache, folder.file());
        CHECK(folder.files() == 2);
    }
    CHECK(folder.files() == 1);
    const std::string held = folder.file() + ".1.tmp";
    for (const char* name : {".tmp", ".x.tmp", ".12", "2.12.tmp"})
        std::ofstream(folder.file() + name) << "somebody else's";
    std::ofstream(folder.file() + ".2.tmp") << "abandoned";
    std::ofstream(held) << "written by another process";
    const int handle = ::open(held.c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(::flock(handle, LOCK_EX) == 0);
    save_ngram_cache(cache, folder.file());
    CHECK(fs::exists(held));
    ::close(handle);
    CHECK(folder.files() == 6);
    save_ngram_cache(cache, folder.file());
    CHECK(folder.files() == 5);
    CHECK(load_ngram_cache<lru>(folder.file(), settings).size() == 40);
}

TEST_CASE(
    "n-gram cache files: whether a path can be replaced is known before, and nothing is left") {
    const scratch_folder folder;
    expect_replaceable(folder.file());
    CHECK(folder.files() == 0);
    CHECK_THROWS_WITH(expect_replaceable((folder.path / "missing" / "cache").string()),
                      Catch::Contains("cannot be written: No such file or directory"));
    CHECK_THROWS_WITH(expect_replaceable(folder.path.string()),
                      folder.path.string() + ": file: cannot be written: Is a directory");
    CHECK_THROWS_WITH(replace_file("/dev/null", "x"),
                      "/dev/null: file: cannot be written: not a regular file");
    const std::string pipe = (folder.path / "pipe").string();
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(read_file(pipe), // at once
                      pipe + ": file: expected a readable file: not a regular file");
    CHECK_THROWS_WITH(read_file(folder.path.string()),
                      Catch::Contains("expected a readable file: Is a directory"));
}

TEST_CASE("n-gram cache files: what is nobody else's to read stays so") {
    const scratch_folder folder;
    replace_file(folder.file(), "x");
    namespace fs = std::filesystem;
    const fs::perms mine = fs::perms::owner_read | fs::perms::owner_write;
    fs::permissions(folder.file(), mine);
    replace_file(folder.file(), "y");
    CHECK(fs::status(folder.file()).permissions() == mine);
    CHECK(read_file(folder.file()) == "y");
}

} // namespace ngram_cache_file_tests
