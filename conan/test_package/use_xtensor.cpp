#include <specdec/core/token_id.hpp>
#include <specdec/interop/xtensor.hpp>

int main() {
    const xt::xtensor<float, 2> logits({2, 3}, 0.0F);
    return specdec::logits_rows_of<specdec::target_id>(logits).size() == 2 ? 0 : 1;
}
