#include <specdec/reference/transformer_model.hpp>

using model = specdec::reference::transformer_model<specdec::target_id, float>;

int main() {
    return specdec::ModelOf<model, specdec::target_id> ? 0 : 1;
}
