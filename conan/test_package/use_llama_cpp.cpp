#include <specdec/core/token_id.hpp>
#include <specdec/interop/llama_cpp.hpp>

static_assert(specdec::ModelOf<specdec::llama_cpp_model<specdec::target_id>, specdec::target_id>);

int main() {
    return llama_max_devices() > 0 ? 0 : 1;
}
