// SPDX-License-Identifier: MIT
#include "serve/client.hpp"

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include <netdb.h>
#include <sys/socket.h>

namespace specdec::serve {

namespace {

bool is_peer(int socket, const std::string& address, int port) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    auto* const any = reinterpret_cast<sockaddr*>(&peer);
    if (getpeername(socket, any, &size) != 0)
        return false;
    char host[NI_MAXHOST], service[NI_MAXSERV];
    return getnameinfo(any, size, host, sizeof host, service, sizeof service,
                       NI_NUMERICHOST | NI_NUMERICSERV) == 0 &&
           address == host && std::to_string(port) == service;
}

} // namespace

client::client(const std::string& address, int port) {
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/fd", problem)) {
        const std::string name = entry.path().filename().string();
        int number = -1;
        std::from_chars(name.data(), name.data() + name.size(), number);
        if (number >= 0 && is_peer(number, address, port)) {
            socket_ = number;
            return;
        }
    }
}

bool client::gone() const {
    if (socket_ < 0)
        return false;
    char byte;
    const auto n = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

} // namespace specdec::serve
