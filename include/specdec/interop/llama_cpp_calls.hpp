// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::ranges::find_first_of
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits> // std::invoke_result_t
#include <utility>
#include <vector>

#ifndef _WIN32
#include <csignal>
#endif

#include <ggml.h>

#include <specdec/core/error.hpp>

namespace specdec {

/// Calls into llama.cpp that may wait for another machine, on a thread that can be left behind.
///
/// llama.cpp ends the process when an rpc-server dies: GGML_ABORT, in a thread of the backend's
/// own, while the caller waits for ever. Here calls run on a thread of this object. Where a server
/// dies meanwhile, or does not answer within `patience` (0: any time is granted), that thread and
/// the backend's are left waiting, and call() throws. What they use (context, model, their memory)
/// is lost for good, and release() then frees nothing. Everything else of the process goes on.
///
/// While such objects exist, and where one was lost, ggml's abort callback is theirs; what is no
/// server's death goes on to the callback before, or ends the process as ever. ggml does not say
/// which server died: lost is every object that has a call running, or an address in common with
/// one that has.
///
/// One call at a time. A call that is left behind may go on when an answer comes late: it captures
/// by value what it uses, or by reference what is never freed. Errors, specdec::error: an address
/// that was lost before (the backend keeps its connection); a server's death, from call() then and
/// ever after; what ggml would have aborted on in a call; and what the call throws.
class llama_cpp_calls {
public:
    explicit llama_cpp_calls(std::span<const std::string> addresses,
                             std::chrono::milliseconds patience = std::chrono::milliseconds(0))
        : patience_(patience), work_(std::make_shared<shared_work>()) {
        work_->addresses.assign(addresses.begin(), addresses.end());
        registry::of_process().add(work_);
        thread_ = std::thread([work = work_] { work->serve(); });
    }
    llama_cpp_calls(const llama_cpp_calls&) = delete;
    llama_cpp_calls& operator=(const llama_cpp_calls&) = delete;
    ~llama_cpp_calls() {
        registry::of_process().remove(work_);
        {
            const std::lock_guard lock(work_->mutex);
            work_->over = true;
            work_->changed.notify_all();
        }
        if (lost())
            thread_.detach(); // it waits for ever
        else
            thread_.join();
    }

    /// Whether a server died under a call.
    [[nodiscard]] bool lost() const {
        const std::lock_guard lock(work_->mutex);
        return work_->lost;
    }

    /// What f() returns or throws, on the thread that may wait.
    template <class F>
    std::invoke_result_t<F&> call(F f) {
        using result = std::invoke_result_t<F&>;
        if constexpr (std::is_void_v<result>) {
            run(std::move(f));
        } else {
            const auto out = std::make_shared<std::optional<result>>();
            run([f = std::move(f), out]() mutable { out->emplace(f()); });
            return std::move(**out);
        }
    }

    /// Calls what frees contexts and models on the servers; nothing where those are lost.
    template <class F>
    void release(F f) noexcept {
        try {
            call(std::move(f));
        } catch (...) { // lost: so is what was to be freed
        }
    }

private:
    /// What the calling thread and the one that waits share; the latter keeps it when left behind.
    struct shared_work {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<std::string> addresses;
        std::function<void()> job;
        std::exception_ptr thrown;
        bool busy = false, lost = false, over = false;

        void serve() {
            on_such_a_thread() = true;
#ifndef _WIN32 // a dead server's socket: an error, here and in threads that begin here
            sigset_t pipe;
            sigemptyset(&pipe);
            sigaddset(&pipe, SIGPIPE);
            pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
#endif
            std::unique_lock lock(mutex);
            for (;;) {
                changed.wait(lock, [&] { return busy || over; });
                if (over)
                    return;
                lock.unlock();
                std::exception_ptr caught;
                try {
                    job();
                } catch (...) {
                    caught = std::current_exception();
                }
                job = nullptr; // and what it captured
                lock.lock();
                thrown = caught;
                busy = false;
                changed.notify_all();
            }
        }
    };

    /// All objects of the process, which share ggml's one abort callback.
    class registry {
    public:
        static registry& of_process() {
            static auto* const one = new registry; // outlives threads that are left waiting
            return *one;
        }
        void add(const std::shared_ptr<shared_work>& work) {
            const std::lock_guard lock(mutex_);
            if (const std::string* address = dead(work->addresses))
                throw error(
                    "rpc-server", *address,
                    "expected a server that this process has not lost before (another spelling "
                    "of the address will do)");
            if (!installed_)
                before_ = ggml_set_abort_callback(aborted);
            installed_ = true;
            works_.push_back(work);
        }
        void remove(const std::shared_ptr<shared_work>& work) {
            const std::lock_guard lock(mutex_);
            std::erase(works_, work);
            if (!works_.empty() || !dead_.empty()) // of lost servers more threads may end yet
                return;
            ggml_set_abort_callback(before_);
            installed_ = false;
        }
        template <class Which>
        void lose(const Which& which) {
            const std::lock_guard lock(mutex_);
            for (const auto& work : works_) {
                const std::lock_guard own(work->mutex);
                if (!which(*work))
                    continue;
                work->lost = true;
                dead_.insert(dead_.end(), work->addresses.begin(), work->addresses.end());
                work->changed.notify_all();
            }
        }

    private:
        /// One of these that is lost, or null.
        [[nodiscard]] const std::string* dead(const std::vector<std::string>& addresses) const {
            const auto found = std::ranges::find_first_of(addresses, dead_);
            return found == addresses.end() ? nullptr : &*found;
        }
        static void aborted(const char* message) { of_process().handle(message); }
        void handle(const char* message) {
            std::string_view said = message;
            while (said.ends_with('\n'))
                said.remove_suffix(1);
            if (on_such_a_thread()) // up to serve(), through llama.cpp
                throw error("llama.cpp", "aborted", std::string(said));
            if (said.find("RPC server") == std::string_view::npos) {
                ggml_set_abort_callback(before_);
                ggml_abort("", 0, "%s", message);
            }
            lose([](const shared_work& w) { return w.busy; });
            lose([this](const shared_work& w) { return dead(w.addresses) != nullptr; });
            for (;;) // the backend's thread: were it to return, the process would end
                std::this_thread::sleep_for(std::chrono::hours(1));
        }

        std::mutex mutex_;
        std::vector<std::shared_ptr<shared_work>> works_;
        std::vector<std::string> dead_; ///< addresses of lost servers
        ggml_abort_callback_t before_ = nullptr;
        bool installed_ = false;
    };

    static bool& on_such_a_thread() {
        thread_local bool here = false;
        return here;
    }

    void run(std::function<void()> job) {
        shared_work& w = *work_;
        std::unique_lock lock(w.mutex);
        if (!w.lost) {
            w.job = std::move(job);
            w.thrown = nullptr;
            w.busy = true;
            w.changed.notify_all();
            const auto settled = [&w] { return !w.busy || w.lost; };
            if (patience_.count() == 0) {
                w.changed.wait(lock, settled);
            } else if (!w.changed.wait_for(lock, patience_, settled)) {
                lock.unlock();
                registry::of_process().lose([&w](const shared_work& x) { return &x == &w; });
                lock.lock();
            }
        }
        if (w.lost)
            throw error("rpc-server", names(),
                        "expected an answer: a server died, or kept silent; what it held is lost");
        if (w.thrown)
            std::rethrow_exception(w.thrown);
    }
    [[nodiscard]] std::string names() const {
        std::string all;
        for (const std::string& address : work_->addresses)
            all += (all.empty() ? "" : ", ") + address;
        return all;
    }

    std::chrono::milliseconds patience_;
    std::shared_ptr<shared_work> work_;
    std::thread thread_;
};

} // namespace specdec
