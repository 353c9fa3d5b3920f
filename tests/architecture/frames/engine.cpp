// README.md: a model and a tokenizer of your own, declared only. Not run.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/speculation/speculation.hpp>

namespace engine // THE BLOCK
