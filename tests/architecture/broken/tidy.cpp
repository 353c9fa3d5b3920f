// SPDX-License-Identifier: MIT
// Compiles without a warning; clang-tidy refuses it.
int* nowhere();
int* nowhere() {
    return 0;
}
