// SPDX-License-Identifier: MIT
// Question: what does the LM head alone cost for 1, 5 and 8 positions, in plain reads of its
// weights (`reads`) and in times of one position (`ones`), and what would Eigen's product cost?
//     bench_engine_head [--threads N] [--rows N] [--columns N]
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "support.hpp"
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/panels.hpp>

namespace ref = specdec::engine;

namespace {

constexpr std::size_t positions[] = {1, 5, 8};

template <class Value>
struct head {
    std::size_t rows;
    ref::aligned_vector<Value> memory;
    ref::panel_matrix<Value> w;
    ref::aligned_vector<Value> x;
    ref::aligned_vector<float> logits;
    ref::panel_kernels<Value> kernels = ref::panel_kernels_for<Value>(ref::best_isa());

    head(std::size_t rows_of_w, std::size_t columns)
        : rows(rows_of_w), memory(ref::panel_matrix<Value>::footprint(rows, columns)),
          w(memory.data(), rows, columns), x(8 * w.length(), ref::round_to<Value>(0.5F)),
          logits(8 * ref::round_up(rows, ref::panel_rows)) {
        const std::vector<float> row(columns, 0.01F);
        for (std::size_t r = 0; r < rows; ++r)
            w.write_row(r, row);
    }

    void multiply(std::size_t n, ref::thread_pool& team) {
        team.run(w.panels(), 1, [&](ref::pool_share s) {
            ref::multiply(kernels, w, s, x.data(), w.length(), n,
                          [&](std::size_t row, std::size_t c, std::size_t count, const float* y) {
                              store(row, c, count, y);
                          });
        });
    }

    void store(std::size_t row, std::size_t first, std::size_t count, const float* y) {
        const std::size_t stride = ref::round_up(rows, ref::panel_rows);
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(y + i * ref::panel_rows, ref::panel_rows,
                        &logits[(first + i) * stride + row]);
    }
};

struct scene {
    scene(std::size_t rows, std::size_t columns, std::size_t threads)
        : rounded(rows, columns), full(rows, columns),
          w(row_major::Constant(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns),
                                0.01F)),
          team(threads) {}

    using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

    head<ref::bf16_bits> rounded;
    head<float> full;
    row_major w;
    ref::thread_pool team;
};

void multiply_by_eigen(scene& s, std::size_t n) {
    const auto c = static_cast<Eigen::Index>(n);
    const Eigen::MatrixXf x = Eigen::MatrixXf::Constant(s.w.cols(), c, 0.5F);
    Eigen::MatrixXf y(s.w.rows(), c);
    const std::size_t all = static_cast<std::size_t>(s.w.rows());
    s.team.run(all, all / (4 * s.team.size()), [&](ref::pool_share share) {
        const auto first = static_cast<Eigen::Index>(share.begin);
        const auto some = static_cast<Eigen::Index>(share.end - share.begin);
        if (n == 1)
            y.col(0).segment(first, some).noalias() = s.w.middleRows(first, some) * x.col(0);
        else
            y.middleRows(first, some).noalias() = s.w.middleRows(first, some) * x;
    });
}

/// Returns the place of the plain read.
template <class Value>
std::size_t add_kernel(bench::question<scene>& to, const std::string& kind,
                       head<Value> scene::*part, std::size_t rows, std::size_t columns) {
    const std::size_t read = to.size();
    const std::string kernel(ref::panel_kernels_for<Value>(ref::best_isa()).name);
    const auto bytes =
        static_cast<double>(ref::panel_matrix<Value>::footprint(rows, columns) * sizeof(Value));
    const auto add = [&](const std::string& name, auto work) {
        auto& added = to.add(kind + "/" + name, work);
        added.label = kernel;
        added.counters = {{"bytes", benchmark::Counter(bytes, benchmark::Counter::kIsRate)}};
        added.ratios = {{"reads", read}, {"ones", read + 1}};
    };
    add("plain_read", [part](scene& s) {
        bench::read(std::as_bytes(std::span<const Value>((s.*part).memory)), s.team);
    });
    for (const std::size_t n : positions)
        add("positions:" + std::to_string(n),
            [part, n](scene& s) { (s.*part).multiply(n, s.team); });
    return read;
}

const bench::registration here([] {
    bench::words& line = bench::command_line();
    const std::size_t rows = line.number("--rows", 49152), columns = line.number("--columns", 576);
    bench::question<scene> whole("head", {.unit = benchmark::kMillisecond}, rows, columns,
                                 line.number("--threads", 2));
    add_kernel(whole, "bf16", &scene::rounded, rows, columns);
    const std::size_t read = add_kernel(whole, "f32", &scene::full, rows, columns);
    const std::size_t one = whole.size();
    for (const std::size_t n : positions)
        whole
            .add("eigen_f32/positions:" + std::to_string(n),
                 [n](scene& s) { multiply_by_eigen(s, n); })
            .ratios = {{"reads", read}, {"ones", one}};
});

} // namespace
