#include <specdec/reference/file/mapped_file.hpp>

int main(int, char** program) {
    return specdec::reference::mapped_file(program[0]).bytes().empty() ? 1 : 0;
}
