set(specdec_shared "${PROJECT_SOURCE_DIR}/../shared")
if(NOT IS_DIRECTORY ${specdec_shared})
    set(specdec_shared "")
endif()

# specdec_tests(FOLDER target...): the executable test_FOLDER of all sources in tests/FOLDER, each of
# its test cases a ctest entry.
function(specdec_tests folder)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    if(folder STREQUAL "reference") # its tokenizers have an executable of their own
        list(FILTER sources EXCLUDE REGEX "/reference/tokenizer/")
    endif()
    if(NOT sources)
        return()
    endif()
    string(REPLACE "/" "_" target test_${folder})
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE ${ARGN} specdec_catch_main ZLIB::ZLIB)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    # Many small instantiations, which -O1 compiles in half the time. Kernels are tested as users
    # run them. What counts and enumerates for long is optimised in every build.
    if(folder MATCHES "^(law|sampling|vocab)$")
        target_compile_options(${target} PRIVATE -O1)
    elseif(NOT folder STREQUAL "reference")
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    # Enumerations visit little memory and much arithmetic: half of the time to compile.
    if(folder STREQUAL "law")
        target_compile_options(${target} PRIVATE -fno-sanitize=address)
    endif()
    # What all of them include. Not with g++ 12, which then warns of what it inlines from them.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        target_precompile_headers(${target} PRIVATE <catch2/catch.hpp> <functional> <map> <string>
                                                    <vector>)
        if(folder MATCHES "^reference")
            target_precompile_headers(${target} PRIVATE <Eigen/Dense> <nlohmann/json.hpp>
                                                        <xtensor/xtensor.hpp>)
        endif()
    endif()
    target_compile_definitions(${target} PRIVATE SPECDEC_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                               SPECDEC_SHARED_DIR="${specdec_shared}")
    catch_discover_tests(${target} TEST_PREFIX "${folder}/" PROPERTIES TIMEOUT 300)
endfunction()

# Every file of tests/compile_fail has a line "// build error: REGEX"; its test passes only if the
# compiler refuses the file with that message.
function(specdec_compile_fail_tests)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/*.cpp)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        add_test(NAME "compile_fail/${name}"
                 COMMAND ${CMAKE_COMMAND} -D COMPILER=${CMAKE_CXX_COMPILER} -D SOURCE=${source}
                         -D INCLUDE=${PROJECT_SOURCE_DIR}/include
                         -P ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail.cmake)
    endforeach()
endfunction()
