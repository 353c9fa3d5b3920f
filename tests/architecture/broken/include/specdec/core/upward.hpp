#pragma once
#include <specdec/decode/loop.hpp>
