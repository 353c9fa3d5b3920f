#pragma once
#include <specdec/verify/ring_one.hpp>
