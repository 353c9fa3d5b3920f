#include <cstdio>

#include <specdec/specdec.hpp>
#ifdef WITH_VOCAB
#include <specdec/vocab/table/vocabulary.hpp>
#endif

int main() {
    const float row[] = {0.0F, 1.0F, 2.0F};
    const auto law = specdec::make_law(specdec::logits_row<specdec::target_id>{row}, {});
    std::printf("specdec: probability of the likeliest token %.3f\n",
                static_cast<double>(law.probability(specdec::target_id{2})));
#ifdef WITH_VOCAB
    specdec::vocabulary table;
    table.add("a", specdec::token_kind::normal);
    return table.size() == 1 ? 0 : 1;
#else
    return 0;
#endif
}
