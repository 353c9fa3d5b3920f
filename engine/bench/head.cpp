// SPDX-License-Identifier: MIT
// Question: what does the LM head alone cost for 1, 5 and 8 positions, in plain reads of its
// weights, and what would Eigen's product cost?  bench_engine_head [--threads N] [--rows N]
// [--columns N]
#include <cstdio>
#include <cstdlib>
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

    void add_cases(std::vector<bench::timed_case>& cases, ref::thread_pool& team) {
        const std::string kernel = std::string(kernels.name) + ", ";
        const auto bytes = std::as_bytes(std::span<const Value>(memory));
        cases.push_back({kernel + "plain read", [=, &team] { bench::read(bytes, team); }});
        for (const std::size_t n : positions)
            cases.push_back({kernel + std::to_string(n), [this, n, &team] {
                                 team.run(w.panels(), 1, [&](ref::pool_share s) {
                                     multiply(kernels, w, s, x.data(), w.length(), n,
                                              [&](std::size_t row, std::size_t c, std::size_t count,
                                                  const float* y) { store(row, c, count, y); });
                                 });
                             }});
    }

    void store(std::size_t row, std::size_t first, std::size_t count, const float* y) {
        const std::size_t stride = ref::round_up(rows, ref::panel_rows);
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(y + i * ref::panel_rows, ref::panel_rows,
                        &logits[(first + i) * stride + row]);
    }
};

} // namespace

int main(int argc, char** argv) {
    std::size_t threads = 2;
    std::size_t rows = 49152;
    std::size_t columns = 576;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string flag = argv[i];
        const std::size_t value = std::strtoul(argv[i + 1], nullptr, 10);
        if (flag == "--threads")
            threads = value;
        if (flag == "--rows")
            rows = value;
        if (flag == "--columns")
            columns = value;
    }
    std::vector<bench::timed_case> cases;
    head<ref::bf16_bits> rounded(rows, columns);
    head<float> full(rows, columns);
    ref::thread_pool team(threads);
    rounded.add_cases(cases, team);
    full.add_cases(cases, team);

    using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto h = static_cast<Eigen::Index>(columns);
    const row_major w = row_major::Constant(static_cast<Eigen::Index>(rows), h, 0.01F);
    for (const std::size_t n : positions)
        cases.push_back({"Eigen f32, " + std::to_string(n), [&w, &team, h, n] {
                             const auto c = static_cast<Eigen::Index>(n);
                             const Eigen::MatrixXf x = Eigen::MatrixXf::Constant(h, c, 0.5F);
                             Eigen::MatrixXf y(w.rows(), c);
                             const std::size_t all = static_cast<std::size_t>(w.rows());
                             team.run(all, all / (4 * team.size()), [&](ref::pool_share s) {
                                 const auto first = static_cast<Eigen::Index>(s.begin);
                                 const auto some = static_cast<Eigen::Index>(s.end - s.begin);
                                 if (n == 1)
                                     y.col(0).segment(first, some).noalias() =
                                         w.middleRows(first, some) * x.col(0);
                                 else
                                     y.middleRows(first, some).noalias() =
                                         w.middleRows(first, some) * x;
                             });
                         }});
    bench::take_turns(cases, 11);

    std::printf("head [%zu, %zu], %zu threads; ratios to the plain read and to one position of the "
                "same kind\n%-26s %9s %9s %9s\n",
                rows, columns, threads, "", "ms", "/ read", "/ one");
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::size_t read = i < 4 ? 0 : 4;
        const std::size_t one = i < 4 ? 1 : i < 8 ? 5 : 8;
        std::printf("%-26s %9.3f %9.2f %9.2f\n", cases[i].name.c_str(), 1e3 * cases[i].seconds,
                    cases[i].seconds / cases[read].seconds, cases[i].seconds / cases[one].seconds);
    }
}
