// SPDX-License-Identifier: MIT
#pragma once
#include "support/output/table.hpp"
