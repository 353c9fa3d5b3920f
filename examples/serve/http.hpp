// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "serve/asked.hpp"
#include "serve/engine_thread.hpp"

/// The HTTP side of the server.
namespace specdec::serve {

struct http_settings {
    std::string host = "127.0.0.1";
    int port = 8080;          ///< 0: any that is free
    std::string key{};        ///< that clients have to send; empty: none
    std::size_t clients = 64; ///< requests that are answered at a time
    std::size_t body_bytes = std::size_t{1} << 20;
    request_limits limits{};
    std::vector<std::string> models{}; ///< names by context key: the target, then its adapters
    bool chats = false;                ///< the target knows a chat form
};

/// Answers clients with what the engine makes, on threads of its own, from its construction on.
class http_server {
public:
    /// Borrows the engine. Errors: specdec::error where it cannot listen.
    http_server(engine_thread& engine, http_settings settings);
    ~http_server();
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;

    [[nodiscard]] int port() const;
    /// New requests are refused from now on.
    void stop_taking();
    /// Ends as soon as what is being answered is answered.
    void stop();

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace specdec::serve
