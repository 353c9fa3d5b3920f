#include <specdec/specdec.hpp>

#ifdef WITH_engine
#include <specdec_engine/file/mapped_file.hpp>
#endif
#ifdef WITH_reference_transformer
#include <specdec/reference/load_weights.hpp>
#include <specdec/reference/transformer_model.hpp>
#endif
#ifdef WITH_llama_cpp
#include <specdec/interop/llama_cpp.hpp>
#endif
#ifdef WITH_openvino
#include <specdec/interop/openvino.hpp>
#endif

// Uses the package as its reader would: a row of logits, and where its part is linked a file.
int main(int, char** program) {
    const float row[] = {0.0F, 1.0F, 2.0F};
    const specdec::logits_rows<specdec::target_id> rows{row, 1, 3, 3};
#ifdef WITH_engine
    if (specdec::engine::mapped_file(program[0]).bytes().empty())
        return 1;
#endif
#ifdef WITH_reference_transformer
    using reference_model = specdec::reference::transformer_model<specdec::target_id, float>;
    static_assert(specdec::ModelOf<reference_model, specdec::target_id>);
#endif
#ifdef WITH_llama_cpp
    if (specdec::llama_cpp_kind(LLAMA_TOKEN_ATTR_BYTE) != specdec::token_kind::byte ||
        llama_max_devices() == 0)
        return 1;
#endif
#ifdef WITH_openvino
    if (!specdec::ModelOf<specdec::openvino_model<specdec::target_id>, specdec::target_id> ||
        ov::Core().get_available_devices().empty())
        return 1;
#endif
    return rows.size() == 1 && program != nullptr ? 0 : 1;
}
