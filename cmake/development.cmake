# What only this project's own builds use; a consumer sees none of it.
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(ccache ccache)
if(ccache AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF) # there are none, and each file would be read twice
# Of the compilers that CI has; what a newer one warns of stops nobody.
if(NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR AND
   "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 16)[.]")
    set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

# Also for the targets that compile every header alone, hence a directory option.
add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False positives of g++ 12 when it inlines at -O3: in its own headers, and in branches that are
    # never taken. clang and the address sanitizer watch over the same mistakes.
    add_compile_options(-Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds)
    # A tenth of the time to compile goes into collecting garbage below a gigabyte.
    add_compile_options(--param=ggc-min-heapsize=1000000)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 22)
    add_compile_options(-Wno-c2y-extensions) # Catch2's __COUNTER__, in every test case
endif()

# Eigen's products, which learning is made of, take half of the time in AVX2's instructions. For all
# of a build, as parts for several CPUs in one program would share each other's inline functions;
# products and sums stay apart, so that rows do not depend on how they are grouped.
option(SPECDEC_NATIVE "Compile our programs and tests for this machine's CPU" OFF)
if(SPECDEC_NATIVE)
    add_compile_options(-march=native -ffp-contract=off)
endif()
