// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace specdec {

/// How check_tokenizer() looks at a tokenizer. The lists that stand here are for tokenizers of any
/// text; give others to one of a few words.
template <class Id>
struct tokenizer_contract_settings {
    /// Texts to encode, at least one. None is changed by NFC.
    std::vector<std::string> texts{
        "The quick brown fox jumps over the lazy dog.",
        " leading and trailing ",
        "def f(x):\n    return [y for y in range(1234567)]\n\n\tif (a<=b) { c++; }  // two  "
        "spaces\r\n",
        "naïve café, ångström, пример, 你好世界, 𝒳, 🙂👩‍🚀 done",
        std::string("a zero\0byte", 11),
    };
    /// Printed names of control tokens, which are text where they stand in one: those of this
    /// tokenizer, and common ones.
    std::vector<std::string> control_names{
        "<s>",        "</s>",         "<unk>",      "<pad>",           "<bos>",
        "<eos>",      "<|im_start|>", "<|im_end|>", "<|endoftext|>",   "<|begin_of_text|>",
        "<|eot_id|>", "<|end|>",      "[INST]",     "<start_of_turn>", "<end_of_turn>",
    };
    /// Texts with bytes that are no UTF-8 between ASCII: stray, cut, surrogate, overlong.
    std::vector<std::string> invalid_utf8{
        "ab\xff\xfexy",   "\x80xy",           "ab\xe4\xbdxy",
        "ab\xf0\x9f\x98", "ab\xed\xa0\x80xy", "ab\xc0\xafxy",
    };
    std::vector<Id> control{}; ///< ids of control tokens, as far as known
    /// The tokenizer changes some of the texts (NFC, lower case, clean-up): they need only be
    /// stable.
    bool normalising = false;
};

} // namespace specdec
