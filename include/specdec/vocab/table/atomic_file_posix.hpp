// SPDX-License-Identifier: MIT
#pragma once

#if !defined(_WIN32)

#include <cerrno>
#include <cstddef>
#include <cstdio>  // std::rename, std::remove
#include <cstring> // std::strerror
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h> // flock
#include <sys/stat.h>
#include <unistd.h>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/file_content.hpp>

/// atomic_file.hpp for POSIX, which includes this.
namespace specdec {

namespace detail {

[[noreturn]] inline void file_error(const std::string& path, const char* what, int code) {
    fail(path, "file", std::string(what) + ": " + std::strerror(code));
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

inline bool is_same(const struct ::stat& a, const struct ::stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether the name still is that of the open file.
inline bool is_named(int handle, const std::string& name) {
    struct ::stat held {};
    struct ::stat found {};
    return ::fstat(handle, &held) == 0 && ::lstat(name.c_str(), &found) == 0 &&
           is_same(held, found);
}

/// What is no file is not replaced: neither folders nor devices, nor links to devices or to a file
/// that is one of the program's standard streams (/dev/stdout).
inline void expect_no_other(const std::string& path) {
    struct ::stat about {};
    if (::lstat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode))
        return;
    if (S_ISLNK(about.st_mode) &&
        (::stat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) {
        for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            struct ::stat open {};
            if (::fstat(stream, &open) == 0 && is_same(open, about))
                fail(path, "file", "cannot be written: a link to a standard stream");
        }
        return;
    }
    if (S_ISDIR(about.st_mode))
        file_error(path, "cannot be written", EISDIR);
    fail(path, "file", "cannot be written: not a regular file");
}

/// The folder that a path lies in, ending with a slash; "" for the current one.
inline std::string folder_of(const std::string& path) {
    return path.substr(0, path.rfind('/') + 1); // none: npos + 1 is 0
}

/// The temporary file for replacing a path. It is locked while its writer lives (flock; the system
/// unlocks what a killed process held), and it is empty. Two writers that would take the same name
/// take turns.
class temporary_file {
public:
    explicit temporary_file(const std::string& path)
        : name_(path + "." + std::to_string(::getpid()) + ".tmp"), file_(open(name_)) {
        if (!file_.is_open())
            file_error(path, "cannot be written", errno);
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() {
        if (file_.is_open())
            std::remove(name_.c_str());
    }

    /// With the permissions of the file that it replaces.
    void become(const std::string& path, std::string_view bytes) {
        struct ::stat before {};
        if (::stat(path.c_str(), &before) == 0 && S_ISREG(before.st_mode))
            (void)::fchmod(file_.get(), before.st_mode & 0777); // its owner's: else as a new one
        if (!write_all(file_.get(), bytes) || ::fsync(file_.get()) != 0 ||
            std::rename(name_.c_str(), path.c_str()) != 0)
            file_error(path, "cannot be written", errno);
        file_.close(); // nothing is lost where this fails: the bytes are on the disk
    }

private:
    static int open(const std::string& name) {
        for (;;) {
            const int handle = ::open(
                name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
            if (handle < 0)
                return -1;
            while (::flock(handle, LOCK_EX) != 0 && errno == EINTR) // else: without locks
                continue;
            // What it waited for has been renamed or cleared away.
            if (is_named(handle, name) && ::ftruncate(handle, 0) == 0)
                return handle;
            const int code = errno;
            const bool renamed = !is_named(handle, name);
            ::close(handle);
            errno = code;
            if (!renamed)
                return -1;
        }
    }

    std::string name_;
    descriptor file_;
};

/// Removes what killed writers of this path have left. A temporary file that can be locked has no
/// writer, or one that will see that its file is gone and make another.
inline void remove_abandoned(const std::string& path) {
    const std::string folder = folder_of(path), start = path.substr(folder.size()) + ".";
    ::DIR* const entries = ::opendir(folder.empty() ? "." : folder.c_str());
    if (entries == nullptr)
        return;
    while (const ::dirent* const entry = ::readdir(entries)) {
        std::string_view number = entry->d_name;
        if (!number.starts_with(start) || !number.ends_with(".tmp"))
            continue;
        const std::string name = folder + entry->d_name;
        number.remove_prefix(start.size());
        if (number.size() <= 4 || number.find_first_not_of("0123456789") != number.size() - 4)
            continue;
        const descriptor file(::open(name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
            is_named(file.get(), name))
            std::remove(name.c_str());
    }
    ::closedir(entries);
}

} // namespace detail

[[nodiscard]] inline bool is_there(const std::string& path) {
    struct ::stat about {};
    return ::lstat(path.c_str(), &about) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

[[nodiscard]] inline std::string read_file(const std::string& path) {
    // Not blocking: a pipe, which is refused, may have no writer.
    detail::descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file.is_open())
        detail::file_error(path, "expected a readable file", errno);
    struct ::stat about {};
    if (::fstat(file.get(), &about) != 0)
        detail::file_error(path, "expected a readable file", errno);
    if (S_ISDIR(about.st_mode))
        detail::file_error(path, "expected a readable file", EISDIR);
    if (!S_ISREG(about.st_mode))
        fail(path, "file", "expected a readable file: not a regular file");
    std::string bytes;
    char block[1 << 14];
    for (;;) {
        const ::ssize_t n = ::read(file.get(), block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            detail::file_error(path, "cannot be read", errno);
        if (n == 0 || static_cast<::off_t>(bytes.size()) >= about.st_size)
            break;
        bytes.append(block, static_cast<std::size_t>(n));
    }
    expect_content(bytes, path);
    return bytes;
}

inline void replace_file(const std::string& path, std::string_view bytes) {
    detail::expect_no_other(path);
    detail::remove_abandoned(path);
    detail::temporary_file(path).become(path, bytes);
    // The new name, too, must outlive a loss of power; not every file system can promise that.
    const std::string folder = detail::folder_of(path);
    detail::descriptor parent(
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.is_open())
        (void)::fsync(parent.get());
}

inline void expect_replaceable(const std::string& path) {
    detail::expect_no_other(path);
    const detail::temporary_file made(path);
}

} // namespace specdec

#endif
