#include <specdec/specdec.hpp>

#ifdef WITH_reference
#include <specdec/reference/mapped_file.hpp>
#endif

// Uses the package as its reader would: a row of logits, and where its part is linked a file.
int main(int, char** program) {
    const float row[] = {0.0F, 1.0F, 2.0F};
    const specdec::logits_rows<specdec::target_id> rows{row, 1, 3, 3};
#ifdef WITH_reference
    if (specdec::reference::mapped_file(program[0]).bytes().empty())
        return 1;
#endif
    return rows.size() == 1 && program != nullptr ? 0 : 1;
}
