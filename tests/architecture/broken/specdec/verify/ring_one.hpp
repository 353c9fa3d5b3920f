#pragma once
#include <specdec/verify/ring_two.hpp>
