// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "support/property/any.hpp"

namespace specdec {

/// The pieces of a target and of a drafter, for piece_tokenizer.
struct vocabulary_pair {
    std::vector<std::string> target, draft;
};

inline std::ostream& operator<<(std::ostream& out, const vocabulary_pair& words) {
    const auto list = [&](const char* name, const std::vector<std::string>& pieces) {
        out << name << " = {";
        for (std::size_t i = 0; i < pieces.size(); ++i)
            out << (i == 0 ? "" : ", ") << pieces[i];
        out << "}";
    };
    list("T", words.target);
    out << " ";
    list("D", words.draft);
    return out;
}

/// A vocabulary of the letters a and b, by which any text over them can be written, and at most
/// `extra` further pieces, in any order. It shrinks to fewer and shorter pieces, then to the
/// letters in front. With `twice`, pieces may stand in it more than once.
inline rc::Gen<std::vector<std::string>> vocabulary_of_letters(std::size_t extra,
                                                               bool twice = false) {
    const std::vector<std::string> pieces{"ab", "aa", "ba", "bb", "aab", "aba", "bab", "a"};
    return rc::gen::map(
        rc::gen::pair(up_to(extra, any_of(pieces)), any_in(0, 3)), [twice](const auto& drawn) {
            std::vector<std::string> all{"a", "b"};
            for (const std::string& piece : drawn.first)
                if (twice || std::find(all.begin(), all.end(), piece) == all.end())
                    all.push_back(piece);
            const std::size_t first = drawn.second % all.size();
            std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
            return all;
        });
}

/// Two of them, of which the drafter's may hold pieces twice.
inline rc::Gen<vocabulary_pair> vocabularies(std::size_t extra = 2) {
    return rc::gen::build<vocabulary_pair>(
        rc::gen::set(&vocabulary_pair::target, vocabulary_of_letters(extra)),
        rc::gen::set(&vocabulary_pair::draft, vocabulary_of_letters(extra, true)));
}

} // namespace specdec
