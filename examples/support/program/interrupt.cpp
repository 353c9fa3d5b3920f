// SPDX-License-Identifier: MIT
#include "support/program/interrupt.hpp"

#include <csignal>
#include <cstddef>
#include <iterator>

namespace specdec::examples {

namespace {

volatile std::sig_atomic_t last_signal = 0;

constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
struct sigaction before[std::size(handled)];

} // namespace

int interrupted() {
    return last_signal;
}

interrupt_guard::interrupt_guard() {
    for (std::size_t i = 0; i < std::size(handled); ++i) {
        struct sigaction action {};
        sigemptyset(&action.sa_mask);
        if (handled[i] == SIGPIPE) {
            action.sa_handler = SIG_IGN;
        } else {
            action.sa_handler = [](int number) { last_signal = number; };
            action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
        }
        sigaction(handled[i], nullptr, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(handled[i], &action, nullptr);
    }
}

interrupt_guard::~interrupt_guard() {
    for (std::size_t i = 0; i < std::size(handled); ++i)
        sigaction(handled[i], &before[i], nullptr);
}

} // namespace specdec::examples
