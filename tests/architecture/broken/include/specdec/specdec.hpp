// SPDX-License-Identifier: MIT
#pragma once
#include <specdec/core/dear.hpp>
