#include <specdec/core/token_id.hpp>
#include <specdec/interop/openvino.hpp>

static_assert(specdec::ModelOf<specdec::openvino_model<specdec::target_id>, specdec::target_id>);

int main() {
    return ov::get_openvino_version().buildNumber != nullptr ? 0 : 1;
}
