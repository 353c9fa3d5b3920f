// SPDX-License-Identifier: MIT
#pragma once

#include "support/toys/piece_tokenizer.hpp"

namespace specdec::testing {

template <class Id>
using tiny_tokenizer = piece_tokenizer<Id>;

} // namespace specdec::testing
