#include <specdec/specdec.hpp>
#include <specdec/vocab/table/intersection.hpp>

// What README's lines are for: the core, and intersect().
int main() {
    specdec::vocabulary words, pieces;
    words.add("a", specdec::token_kind::normal);
    pieces.add("b", specdec::token_kind::normal);
    pieces.add("a", specdec::token_kind::normal);
    const specdec::id_map shared = specdec::intersect(pieces, words);
    return shared.to_target(specdec::draft_id{1}) == specdec::target_id{0} ? 0 : 1;
}
