// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>  // std::rename, std::remove
#include <cstring> // std::strerror
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <specdec/core/error.hpp>

/// Whole files, read and replaced (POSIX).
/// Errors: specdec::error(path, "file", what went wrong and why).
namespace specdec {

namespace detail {

[[noreturn]] inline void file_error(const std::string& path, const char* what, int code) {
    throw error(path, "file", std::string(what) + ": " + std::strerror(code));
}

/// A file descriptor that is closed at the end of its life.
class descriptor {
public:
    explicit descriptor(int handle) : handle_(handle) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { close(); }

    [[nodiscard]] bool is_open() const { return handle_ >= 0; }
    [[nodiscard]] int get() const { return handle_; }
    bool close() {
        const int handle = handle_;
        handle_ = -1;
        return handle < 0 || ::close(handle) == 0;
    }

private:
    int handle_;
};

inline bool write_all(int handle, std::string_view bytes) {
    while (!bytes.empty()) {
        const ::ssize_t n = ::write(handle, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

} // namespace detail

/// The bytes of a file.
[[nodiscard]] inline std::string read_file(const std::string& path) {
    detail::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open())
        detail::file_error(path, "expected a readable file", errno);
    const ::off_t size = ::lseek(file.get(), 0, SEEK_END);
    if (size < 0 || ::lseek(file.get(), 0, SEEK_SET) != 0)
        detail::file_error(path, "expected a regular file", errno);
    std::string bytes;
    char block[1 << 14];
    for (;;) {
        const ::ssize_t n = ::read(file.get(), block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            detail::file_error(path, "cannot be read", errno);
        if (n == 0 || static_cast<::off_t>(bytes.size()) >= size)
            return bytes;
        bytes.append(block, static_cast<std::size_t>(n));
    }
}

/// Puts a file with these bytes in the place of whatever is there: they are written to a temporary
/// file in the same folder, flushed to the disk and renamed. A reader, and a machine that loses
/// power, finds the old bytes or the new ones; where anything fails the old ones stay and the
/// temporary file goes. A symbolic link is replaced, not followed. Two threads must not replace one
/// path at a time.
inline void replace_file(const std::string& path, std::string_view bytes) {
    const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
    detail::descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file.is_open())
        detail::file_error(path, "cannot be written", errno);
    if (!detail::write_all(file.get(), bytes) || ::fsync(file.get()) != 0 || !file.close() ||
        std::rename(temporary.c_str(), path.c_str()) != 0) {
        const int code = errno;
        std::remove(temporary.c_str());
        detail::file_error(path, "cannot be written", code);
    }
    // The new name, too, must outlive a loss of power; not every file system can promise that.
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    detail::descriptor parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.is_open())
        (void)::fsync(parent.get());
}

} // namespace specdec
