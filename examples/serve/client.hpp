// SPDX-License-Identifier: MIT
#pragma once

#include <string>

/// The client at the other end of a connection.
namespace specdec::serve {

/// Whether the client of that address and port has closed its connection. The HTTP library tells
/// handlers nothing of it, so this looks for the socket among those of the process.
class client {
public:
    client(const std::string& address, int port);
    /// False where its socket was not found.
    [[nodiscard]] bool gone() const;

private:
    int socket_ = -1; // not owned; it stays open while the request is handled
};

} // namespace specdec::serve
