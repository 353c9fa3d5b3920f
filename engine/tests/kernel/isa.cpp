// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/isa.hpp>

#include <catch2/catch.hpp>

using namespace specdec::engine;

TEST_CASE("instructions are restricted to what was asked for and what the CPU has") {
    for (const isa set : {isa::portable, isa::avx2, isa::avx_vnni, isa::avx512, isa::avx512_vnni,
                          isa::avx512_bf16, isa::amx}) {
        CAPTURE(name(set));
        CHECK(usable(set) <= set);
        CHECK(usable(set) <= best_isa());
        CHECK(usable(usable(set)) == usable(set));
        CHECK_FALSE(name(set).empty());
    }
    CHECK(usable(isa::portable) == isa::portable);
#if defined(__x86_64__)
    if (best_isa() >= isa::avx512) // which a CPU may have without AVX-VNNI
        CHECK((usable(isa::avx_vnni) == isa::avx2 || usable(isa::avx_vnni) == isa::avx_vnni));
#endif
}
