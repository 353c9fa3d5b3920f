#include <specdec/specdec.hpp>

int main() {
    const float row[] = {0.0F, 1.0F, 2.0F};
    return specdec::logits_rows<specdec::target_id>{row, 1, 3, 3}.size() == 1 ? 0 : 1;
}
