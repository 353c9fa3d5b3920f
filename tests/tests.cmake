set(specdec_folder ${CMAKE_CURRENT_LIST_DIR})
cmake_path(GET specdec_folder PARENT_PATH specdec_root)
include(${specdec_root}/cmake/specdec-library.cmake)
set(specdec_shared "${specdec_root}/../shared")
if(NOT IS_DIRECTORY ${specdec_shared})
    set(specdec_shared "")
endif()

# The files of a folder are compiled as one, for they instantiate the same templates, for seconds
# each; where that would take longer than half a minute, in several parts, by what they share. (The
# transformer takes a minute, whether one file needs it or six.)
set(specdec_parts
    "courses=law/courses"
    "blocks=law/block_drafters"
    "rounds=law/(block|bridges|merge|nested|paper_merge|slrs)"
    "sessions=law/(faults|given_rows|sessions|windows)"
    "learning=law/(learning|lengths)"
    "lazy=law/(processors|sessions_lazy)"
    "redrafts=law/redrafts.*"
    "sessions=decode/(allocation|generate|same_text|seam|session)"
    "transformer=engine/tests/((batch_model|engine_contract|feature_texts|load|model)|drafter/(exit_model|(gguf_)?feature_.+|lm_head|speculators_config)|transformer/(forward|own_types|pack|transformer))"
    "loaders=engine/tests/tokenizer/(file/(.+_tokenizer|.*sentencepiece.*)|real_vocabularies)"
    "lessons=learn/(acceptance/acceptance_(examples|head|labels|learner)|distillation_recorder)"
    "strings=bridge/(spelling|strings/.+)"
    "ngrams=vocab/ngrams/.+"
    "oracle=reference/decode|engine/tests/oracle")

# specdec_unite(TARGET source...)
function(specdec_unite target)
    # Files that meet in one may shadow each other's names.
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
        UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma GCC diagnostic ignored \"-Wshadow\"")
    set_property(SOURCE ${ARGN} PROPERTY UNITY_GROUP rest)
    foreach(part IN LISTS specdec_parts)
        string(REPLACE "=" ";" part "${part}")
        list(GET part 0 name)
        list(GET part 1 files)
        set(united ${ARGN})
        list(FILTER united INCLUDE REGEX "^${specdec_root}/(tests/)?(${files})\\.cpp$")
        set_property(SOURCE ${united} PROPERTY UNITY_GROUP ${name})
    endforeach()
endfunction()

# specdec_tests(FOLDER target...): the executable test_FOLDER of all sources in tests/FOLDER, each of
# its test cases a ctest entry; of engine and engine/FOLDER those in engine/tests.
function(specdec_tests folder)
    set(place ${specdec_folder}/${folder})
    if(folder MATCHES "^engine")
        string(REGEX REPLACE "^engine(/kernels)?" "${specdec_root}/engine/tests" place ${folder})
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${place}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "/fuzz/")
    set(kernels "/tests/[a-z]+/(attention|elementwise|isa|lines|panel_kernel|node_rows|panels|quantised|quantised_.+|rotary|tiles|tile_kernel)\\.cpp$")
    if(folder STREQUAL "engine") # learning, tokenizers and kernels have executables of their own
        list(FILTER sources EXCLUDE REGEX "/tests/(learn|tokenizer)/|${kernels}")
    elseif(folder STREQUAL "engine/kernels")
        list(FILTER sources INCLUDE REGEX "${kernels}")
    elseif(folder STREQUAL "law" AND NOT SPECDEC_BUILD_LONG_TESTS)
        list(FILTER sources INCLUDE REGEX "/law/(bridges|faults|processors|verifiers)\\.cpp$")
    endif()
    if(folder STREQUAL "openvino" AND NOT TARGET openvino::frontend::gguf) # older than 2026.4
        list(FILTER sources EXCLUDE REGEX "/gguf\\.cpp$")
    endif()
    if(SPECDEC_LEFT_OUT) # of a platform that lacks what they need (tests/platforms)
        specdec_leave_out(sources "${SPECDEC_LEFT_OUT}")
    endif()
    if(NOT SPECDEC_BUILD_ENGINE)
        specdec_leave_out(sources "<specdec_engine/")
    endif()
    if(NOT sources)
        return()
    endif()
    string(REPLACE "/" "_" target test_${folder})
    add_executable(${target} ${sources})
    if(NOT folder MATCHES "^(llama_cpp|openvino)$") # built where these are only
        specdec_unite(${target} ${sources})
    endif()
    target_link_libraries(${target} PRIVATE ${ARGN} specdec_catch_main ZLIB::ZLIB)
    if(folder MATCHES "^(testing|speculation|engine|reference)$" OR (folder STREQUAL "law" AND SPECDEC_BUILD_LONG_TESTS))
        target_link_libraries(${target} PRIVATE specdec_rules)
    endif()
    if(folder MATCHES "^engine")
        target_include_directories(${target} PRIVATE ${specdec_root}/engine/tests)
    endif()
    if(folder MATCHES "^(papers|programs/output)$") # headers of the programs that use them
        target_include_directories(${target} PRIVATE ${specdec_root}/examples)
    endif()
    target_include_directories(${target} PRIVATE ${specdec_folder})
    # Many small instantiations, which -Og compiles in two thirds of the time of -O1. Kernels are tested as
    # users run them. What counts and enumerates for long is optimised in every build; a few laws compile longer.
    if(folder STREQUAL "law" AND SPECDEC_BUILD_LONG_TESTS)
        target_compile_options(${target} PRIVATE -O1 $<$<CXX_COMPILER_ID:GNU>:-finline-small-functions>)
    elseif(folder MATCHES "^(sampling|vocab|papers)$")
        target_compile_options(${target} PRIVATE $<IF:$<CONFIG:Release>,-Og,-O1>)
    elseif(folder MATCHES "^(testing|support)$") # runs for less than a second
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
    elseif(NOT folder STREQUAL "engine/kernels")
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
    endif()
    # Enumerations visit little memory and much arithmetic: half of the time to compile.
    if(folder STREQUAL "law")
        target_compile_options(${target} PRIVATE -fno-sanitize=address)
    endif()
    target_compile_definitions(${target} PRIVATE SPECDEC_SOURCE_DIR="${specdec_root}"
                               SPECDEC_SHARED_DIR="${specdec_shared}")
    specdec_discover(${target} ${folder}/)
endfunction()

# specdec_discover(TARGET PREFIX): a ctest entry for each test case, written when it is linked.
function(specdec_discover target prefix)
    set(script ${specdec_root}/tests/discovery/discover.py)
    set(entries ${CMAKE_CURRENT_BINARY_DIR}/${target}_entries.cmake)
    add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${entries} VERBATIM
        COMMAND ${Python3_EXECUTABLE} ${script} $<TARGET_FILE:${target}> ${prefix} ${entries})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
    set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
    file(WRITE ${include} "if(EXISTS [[${entries}]])\n  include([[${entries}]])\n"
                          "else()\n  add_test([[${prefix}not built]] [[${target}]])\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
    set_property(GLOBAL APPEND PROPERTY specdec_test_programs $<TARGET_FILE:${target}>)
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
