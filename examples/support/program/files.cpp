// SPDX-License-Identifier: MIT
#include "support/program/files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <specdec/vocab/table/atomic_file.hpp>

namespace specdec::examples {

namespace {

/// May begin before a pipe has a writer: the handle then does not wait by itself.
void read_all(int handle, const std::string& name, bool may_be_early,
              const std::function<bool(std::string_view)>& use) {
    struct ::stat about {};
    if (::fstat(handle, &about) != 0)
        detail::file_error(name, "cannot be read", errno);
    if (S_ISDIR(about.st_mode))
        detail::file_error(name, "expected a readable file", EISDIR);
    ::pollfd state{handle, POLLIN, 0};
    bool first = true,
         nobody_yet = may_be_early && S_ISFIFO(about.st_mode) && ::poll(&state, 1, 1000) == 0;
    std::string block(std::size_t{1} << 16, '\0');
    for (;; nobody_yet = false) {
        const ::ssize_t n = ::read(handle, block.data(), block.size());
        if (n < 0 && errno == EAGAIN) {
            (void)::poll(&state, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            detail::file_error(name, "cannot be read", errno);
        if (n == 0 && nobody_yet)
            throw error(name, "file", "expected a readable file: a pipe that nobody writes to");
        if (n == 0)
            return;
        const std::string_view read =
            std::string_view(block).substr(0, static_cast<std::size_t>(n));
        if (std::exchange(first, false))
            expect_content(read, name);
        if (!use(read))
            return;
    }
}

std::string held_whole(int handle, const std::string& name, bool may_be_early,
                       std::size_t mebibytes) {
    std::string bytes;
    read_all(handle, name, may_be_early, [&](std::string_view block) {
        bytes += block;
        if (bytes.size() > mebibytes << 20)
            throw error(name, "file", "expected at most " + std::to_string(mebibytes) + " MiB");
        return true;
    });
    return bytes;
}

class input : public detail::descriptor {
public:
    explicit input(const std::string& path)
        : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        if (!is_open())
            detail::file_error(path, "expected a readable file", errno);
    }
};

} // namespace

std::string read_input(const std::string& path, std::size_t mebibytes) {
    const input file(path);
    return held_whole(file.get(), path, true, mebibytes);
}

std::string read_standard_input() {
    return held_whole(STDIN_FILENO, "standard input", false, 16);
}

void read_blocks(const std::string& path, const std::function<bool(std::string_view)>& use) {
    const input file(path);
    read_all(file.get(), path, true, use);
}

std::string why_missing(const std::filesystem::path& path) {
    std::error_code code;
    (void)std::filesystem::status(path, code);
    return code ? code.message() : "";
}

void expect_writable(const std::string& flag, const std::string& path) {
    try {
        expect_replaceable(path);
    } catch (const error& problem) { // names the path
        throw error(flag + ": " + problem.what());
    }
}

void expect_other_file(const std::string& flag, const std::string& written,
                       const std::string& read) {
    std::error_code unknown; // one of them is not there yet
    if (std::filesystem::is_regular_file(read, unknown) &&
        std::filesystem::equivalent(written, read, unknown))
        throw error(flag, written, "expected another file than the one that is read");
}

void flush_output() {
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw error("standard output", "file",
                    std::string("cannot be written") +
                        (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
}

void keep_standard_streams() {
    // Opened the wrong way round, so that using them fails. The lowest free number is taken.
    for (const int handle : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(handle, F_GETFD) < 0 && errno == EBADF)
            (void)::open("/dev/null", handle == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace specdec::examples
