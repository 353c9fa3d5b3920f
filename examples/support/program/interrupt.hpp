// SPDX-License-Identifier: MIT
#pragma once

namespace specdec::examples {

/// The signal that told the program to end while a guard lived; 0: none did.
[[nodiscard]] int interrupted();

/// While it lives SIGINT, SIGTERM and SIGHUP ask the program to end at the next round, and writing
/// to a closed pipe is an error like any other: there is something to show and to save. A second
/// signal ends it at once. What the program was started to ignore stays ignored. One at a time.
class interrupt_guard {
public:
    interrupt_guard();
    ~interrupt_guard();
    interrupt_guard(const interrupt_guard&) = delete;
    interrupt_guard& operator=(const interrupt_guard&) = delete;
};

} // namespace specdec::examples
