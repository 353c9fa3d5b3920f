#include <boost/unordered/unordered_flat_map.hpp>

#include <specdec/vocab/table/vocabulary.hpp>

int main() {
    specdec::vocabulary table;
    table.add("a", specdec::token_kind::normal);
    return table.size() == 1 ? 0 : 1;
}
