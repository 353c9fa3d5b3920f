// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

/// What every benchmark program has: a command line, and questions that are registered once it is
/// read.
namespace bench {

/// What Google Benchmark left of the command line: flags with a value each, and paths.
class words {
public:
    void assign(std::vector<std::string> all) { unread_ = std::move(all); }

    /// The value of a flag, also if it is asked for again.
    [[nodiscard]] std::string text(const std::string& flag, const std::string& otherwise) {
        for (std::size_t i = 0; i + 1 < unread_.size(); ++i)
            if (unread_[i] == flag) {
                read_.emplace_back(flag, unread_[i + 1]);
                unread_.erase(at(i), at(i + 2));
                break;
            }
        for (const auto& [name, value] : read_)
            if (name == flag)
                return value;
        return otherwise;
    }
    [[nodiscard]] double real(const std::string& flag, double otherwise) {
        const std::string value = text(flag, "");
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        if (*end != 0 || number < 0)
            throw std::invalid_argument(flag + ": expected a number from 0, found " + value);
        return value.empty() ? otherwise : number;
    }
    [[nodiscard]] std::size_t number(const std::string& flag, std::size_t otherwise) {
        return static_cast<std::size_t>(real(flag, static_cast<double>(otherwise)));
    }
    /// Whether a flag without a value is given.
    [[nodiscard]] bool given(const std::string& flag) {
        for (std::size_t i = 0; i < unread_.size(); ++i)
            if (unread_[i] == flag) {
                unread_.erase(at(i), at(i + 1));
                return true;
            }
        return false;
    }
    /// All words that are no flags. Pre: all flags are read.
    [[nodiscard]] std::vector<std::string> paths() {
        const auto flags = std::stable_partition(unread_.begin(), unread_.end(),
                                                 [](const std::string& w) { return w[0] != '-'; });
        std::vector<std::string> found(unread_.begin(), flags);
        unread_.erase(unread_.begin(), flags);
        return found;
    }
    void refuse_unread() const {
        if (!unread_.empty())
            throw std::invalid_argument("unknown flag, or a flag without its value: " +
                                        unread_.front());
    }

private:
    [[nodiscard]] std::vector<std::string>::iterator at(std::size_t i) {
        return unread_.begin() + static_cast<std::ptrdiff_t>(i);
    }

    std::vector<std::string> unread_;
    std::vector<std::pair<std::string, std::string>> read_;
};

inline words& command_line() {
    static words all;
    return all;
}

inline std::vector<std::function<void()>>& registrations() {
    static std::vector<std::function<void()>> all;
    return all;
}
/// Registers benchmarks that depend on the command line: an object of namespace scope.
struct registration {
    explicit registration(std::function<void()> add) { registrations().push_back(std::move(add)); }
};

inline bool failed = false;

/// Ends a benchmark, and lets the program return 1.
inline void fail(benchmark::State& state, const char* why) {
    failed = true;
    state.SkipWithError(why);
}

} // namespace bench
