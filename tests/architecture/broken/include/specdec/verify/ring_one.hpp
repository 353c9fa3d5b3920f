#pragma once
#include <specdec/verify/ring_two.hpp>
constexpr float forbidden = -__builtin_inff(); // __attribute__
