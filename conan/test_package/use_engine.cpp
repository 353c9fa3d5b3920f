#include <specdec_engine/file/mapped_file.hpp>

int main(int, char** program) {
    return specdec::engine::mapped_file(program[0]).bytes().empty() ? 1 : 0;
}
