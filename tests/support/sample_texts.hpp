// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

/// Texts with everything that tokenizers cut at, for tests of translation between vocabularies.
namespace specdec::test {

inline const std::string& sample_text() {
    static const std::string text =
        "The quick brown fox jumps over the lazy dog. def main(args):\n    return [x for x in "
        "range(1234567)]\n\nprint(\"hello, world!\")  # unbelievable   spaces\n\nCaf\u00e9 "
        "na\u00efve "
        "e\u0301tude a\u0308rger \u4f60\u597d\u4e16\u754c \U0001F600 and so on; it's John's "
        "3.14159 "
        "value , or not .\n\tTabs\tand more words, retokenised incrementally by the engine, and "
        "the "
        "engine's readers understand the words incrementally. ";
    return text;
}

/// Stretches of the sample text, cut anywhere and joined: about `size` bytes.
inline std::string random_text(std::mt19937_64& bits, std::size_t size) {
    std::string text;
    while (text.size() < size)
        text += sample_text().substr(bits() % sample_text().size(), bits() % 120);
    return text;
}

/// Texts without the word edges that a tokenizer may be cut at.
inline std::vector<std::string> texts_without_words() {
    std::string chinese, decomposed, half, every_byte;
    const char* const characters[] = {"\u4f60", "\u597d", "\u4e16", "\u754c"};
    for (std::size_t i = 0; i < 400; ++i)
        chinese += characters[(i * i / 3 + i) % 4];
    for (int i = 0; i < 300; ++i)
        decomposed += "e\u0301a\u0301";
    for (int i = 0; i < 300; ++i)
        half += "\xe4\xbd";
    for (int i = 0; i < 1200; ++i)
        every_byte += static_cast<char>(i * i / 7 + i);
    return {std::string(1500, 'a'),
            std::string(1500, '\n'),
            std::string(1500, '7'),
            chinese,
            decomposed,
            half,
            every_byte};
}

} // namespace specdec::test
