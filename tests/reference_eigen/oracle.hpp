// SPDX-License-Identifier: MIT
#pragma once

#include <specdec/reference/load_weights.hpp>
#include <specdec/reference/transformer_batch.hpp>
#include <specdec/reference/transformer_model.hpp>

namespace oracle = specdec::reference;
