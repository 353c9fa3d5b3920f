#include <specdec/core/token_id.hpp>
#include <specdec/interop/eigen.hpp>

int main() {
    using rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const rows logits = rows::Zero(2, 3);
    return specdec::logits_rows_of<specdec::target_id>(logits).size() == 2 ? 0 : 1;
}
