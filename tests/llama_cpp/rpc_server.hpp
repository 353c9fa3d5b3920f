// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace specdec::tiny {

/// llama.cpp's rpc-server on a free port of this machine, killed with this object or this process.
class rpc_server {
public:
    explicit rpc_server(const std::string& program) : port_(free_port()) {
        const std::string port = std::to_string(port_);
        process_ = fork();
        if (process_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            const int nowhere = open("/dev/null", O_RDWR);
            for (const int stream : {0, 1, 2})
                dup2(nowhere, stream);
            execl(program.c_str(), "rpc-server", "-H", "127.0.0.1", "-p", port.c_str(), "-t", "1",
                  static_cast<char*>(nullptr));
            _exit(127);
        }
        for (int i = 0; !answers(); ++i) {
            if (i == 1000 || waitpid(process_, nullptr, WNOHANG) != 0)
                throw std::runtime_error("no rpc-server: " + program);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    rpc_server(const rpc_server&) = delete;
    rpc_server& operator=(const rpc_server&) = delete;
    ~rpc_server() { end(); }

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    void end() {
        if (process_ <= 0)
            return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = 0;
    }
    /// From now on it answers nothing.
    void stop() const { kill(process_, SIGSTOP); }

    [[nodiscard]] static std::uint16_t free_port() {
        const loopback_socket s(0);
        sockaddr_in where{};
        socklen_t length = sizeof where;
        getsockname(s.handle, reinterpret_cast<sockaddr*>(&where), &length);
        return ntohs(where.sin_port);
    }

private:
    struct loopback_socket {
        explicit loopback_socket(std::uint16_t port) : handle(socket(AF_INET, SOCK_STREAM, 0)) {
            sockaddr_in where{};
            where.sin_family = AF_INET;
            where.sin_port = htons(port);
            where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            const auto* address = reinterpret_cast<const sockaddr*>(&where);
            good = (port == 0 ? bind(handle, address, sizeof where)
                              : connect(handle, address, sizeof where)) == 0;
        }
        ~loopback_socket() { close(handle); }
        loopback_socket(const loopback_socket&) = delete;
        loopback_socket& operator=(const loopback_socket&) = delete;
        int handle;
        bool good = false;
    };

    [[nodiscard]] bool answers() const { return loopback_socket(port_).good; }

    std::uint16_t port_;
    pid_t process_ = 0;
};

} // namespace specdec::tiny
