// SPDX-License-Identifier: MIT
#pragma once

#if defined(_WIN32)

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/file_content.hpp>

/// atomic_file.hpp for Windows, which includes this.
namespace specdec {

namespace detail {

[[noreturn]] inline void file_error(const std::string& path, const char* what, ::DWORD code) {
    char why[256];
    ::DWORD n = ::FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS,
                                 nullptr, code, 0, why, sizeof why, nullptr);
    while (n > 0 && (why[n - 1] == '\n' || why[n - 1] == '\r' || why[n - 1] == '.'))
        --n;
    fail(path, "file",
         std::string(what) + ": " +
             (n > 0 ? std::string(why, n) : "error " + std::to_string(code)));
}

/// A path as the system wants it.
inline std::wstring wide(std::string_view path) {
    const int bytes = static_cast<int>(path.size());
    const int n =
        ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.data(), bytes, nullptr, 0);
    if (n <= 0)
        fail(std::string(path), "file", "expected a path in UTF-8");
    std::wstring out(static_cast<std::size_t>(n), L' ');
    ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.data(), bytes, out.data(), n);
    return out;
}

/// A handle that is closed at the end of its life.
class file_handle {
public:
    explicit file_handle(::HANDLE handle) : handle_(handle) {}
    file_handle(const file_handle&) = delete;
    file_handle& operator=(const file_handle&) = delete;
    ~file_handle() { close(); }

    [[nodiscard]] bool is_open() const { return handle_ != INVALID_HANDLE_VALUE; }
    [[nodiscard]] ::HANDLE get() const { return handle_; }
    void close() {
        if (is_open())
            ::CloseHandle(handle_);
        handle_ = INVALID_HANDLE_VALUE;
    }

private:
    ::HANDLE handle_;
};

/// What is no file is not replaced.
inline void expect_no_other(const std::string& path) {
    const ::DWORD about = ::GetFileAttributesW(wide(path).c_str());
    if (about != INVALID_FILE_ATTRIBUTES && (about & FILE_ATTRIBUTE_DIRECTORY) != 0)
        fail(path, "file", "cannot be written: it is a folder");
}

/// The temporary file for replacing a path: a thread's own, which nobody else can open or remove
/// while it lives. It is renamed while it is open.
class temporary_file {
public:
    explicit temporary_file(const std::string& path)
        : name_(wide(path + "." + own_number() + ".tmp")),
          file_(::CreateFileW(name_.c_str(), GENERIC_WRITE | DELETE, 0, nullptr, CREATE_ALWAYS,
                              FILE_ATTRIBUTE_NORMAL, nullptr)) {
        if (!file_.is_open())
            file_error(path, "cannot be written", ::GetLastError());
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() {
        if (!file_.is_open())
            return;
        file_.close();
        ::DeleteFileW(name_.c_str());
    }

    void become(const std::string& path, std::string_view bytes) {
        if (!write_all(bytes) || ::FlushFileBuffers(file_.get()) == 0)
            file_error(path, "cannot be written", ::GetLastError());
        // Others (writers, scanners) may have the old file open for a moment.
        for (int tries = 0; !rename(wide(path)); ++tries) {
            const ::DWORD why = ::GetLastError();
            if (tries == 100 || (why != ERROR_SHARING_VIOLATION && why != ERROR_ACCESS_DENIED))
                file_error(path, "cannot be written", why);
            ::Sleep(10);
        }
        file_.close();
    }

private:
    [[nodiscard]] static std::string own_number() {
        return std::to_string((static_cast<unsigned long long>(::GetCurrentProcessId()) << 32) +
                              ::GetCurrentThreadId());
    }
    [[nodiscard]] bool rename(const std::wstring& to) {
        const std::size_t size = sizeof(::FILE_RENAME_INFO) + to.size() * sizeof(wchar_t);
        std::vector<::FILE_RENAME_INFO> room(size / sizeof(::FILE_RENAME_INFO) + 1);
        ::FILE_RENAME_INFO& info = room.front();
        info.ReplaceIfExists = TRUE;
        info.FileNameLength = static_cast<::DWORD>(to.size() * sizeof(wchar_t));
        std::memcpy(info.FileName, to.c_str(), (to.size() + 1) * sizeof(wchar_t));
        return ::SetFileInformationByHandle(file_.get(), ::FileRenameInfo, &info,
                                            static_cast<::DWORD>(size)) != 0;
    }
    bool write_all(std::string_view bytes) {
        constexpr std::size_t most = 1 << 30;
        while (!bytes.empty()) {
            const auto part = static_cast<::DWORD>(bytes.size() < most ? bytes.size() : most);
            ::DWORD n = 0;
            if (::WriteFile(file_.get(), bytes.data(), part, &n, nullptr) == 0)
                return false;
            bytes.remove_prefix(n);
        }
        return true;
    }

    std::wstring name_;
    file_handle file_;
};

/// Removes what killed writers of this path have left: what a writer has open stays.
inline void remove_abandoned(const std::string& path) {
    const std::string folder = path.substr(0, path.find_last_of("/\\") + 1);
    const std::wstring start = wide(path.substr(folder.size()) + "."), end = L".tmp";
    ::WIN32_FIND_DATAW entry;
    const ::HANDLE found = ::FindFirstFileW(wide(path + ".*.tmp").c_str(), &entry);
    if (found == INVALID_HANDLE_VALUE)
        return;
    do {
        const std::wstring name = entry.cFileName;
        if (name.size() <= start.size() + end.size() || !name.starts_with(start) ||
            !name.ends_with(end))
            continue;
        const std::wstring number =
            name.substr(start.size(), name.size() - start.size() - end.size());
        if (number.find_first_not_of(L"0123456789") == std::wstring::npos)
            ::DeleteFileW(((folder.empty() ? std::wstring() : wide(folder)) + name).c_str());
    } while (::FindNextFileW(found, &entry) != 0);
    ::FindClose(found);
}

} // namespace detail

[[nodiscard]] inline bool is_there(const std::string& path) {
    if (::GetFileAttributesW(detail::wide(path).c_str()) != INVALID_FILE_ATTRIBUTES)
        return true;
    const ::DWORD why = ::GetLastError();
    return why != ERROR_FILE_NOT_FOUND && why != ERROR_PATH_NOT_FOUND;
}

[[nodiscard]] inline std::string read_file(const std::string& path) {
    detail::file_handle file(::CreateFileW(detail::wide(path).c_str(), GENERIC_READ,
                                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                           nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!file.is_open())
        detail::file_error(path, "expected a readable file", ::GetLastError());
    if (::GetFileType(file.get()) != FILE_TYPE_DISK)
        fail(path, "file", "expected a readable file: not a regular file");
    std::string bytes;
    char block[1 << 14];
    for (;;) {
        ::DWORD n = 0;
        if (::ReadFile(file.get(), block, sizeof block, &n, nullptr) == 0)
            detail::file_error(path, "cannot be read", ::GetLastError());
        if (n == 0)
            break;
        bytes.append(block, n);
    }
    expect_content(bytes, path);
    return bytes;
}

inline void replace_file(const std::string& path, std::string_view bytes) {
    detail::expect_no_other(path);
    detail::remove_abandoned(path);
    detail::temporary_file(path).become(path, bytes);
}

inline void expect_replaceable(const std::string& path) {
    detail::expect_no_other(path);
    const detail::temporary_file made(path);
}

} // namespace specdec

#endif
