// SPDX-License-Identifier: MIT
// A text of a decoder that ends with the expression: it borrows what the decoder owns.
// build error: (argument discards qualifiers|no matching member function|an rvalue)
#include <memory>
#include <utility>

#include <specdec/speculation/decoder.hpp>

using namespace specdec;

std::unique_ptr<speculative_text> good(decoder& pair) {
    return pair.open({}, {});
}
std::unique_ptr<speculative_text> bad(decoder& pair) {
    return std::move(pair).open({}, {});
}
