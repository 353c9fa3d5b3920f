// SPDX-License-Identifier: MIT
//
// What a user's compiler may warn of, though our headers are a system's to it: of what it inlines
// into the user's code. Without the rules, which take minutes.
#include <memory>

#include <specdec/speculation/speculation.hpp>

std::unique_ptr<specdec::speculative_text> opened(specdec::speculation& pair,
                                                  const specdec::text_request& request,
                                                  const specdec::decode_settings& settings) {
    return pair.specdec::speculation::open(request, settings);
}
