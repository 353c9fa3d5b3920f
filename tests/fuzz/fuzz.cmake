# specdec_fuzz(target...): each NAME.cpp of this folder is the libFuzzer target fuzz_NAME, linked with these; corpus/NAME
# holds its seeds.
function(specdec_fuzz)
    file(GLOB sources CONFIGURE_DEPENDS *.cpp)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        add_executable(fuzz_${name} ${source})
        target_link_libraries(fuzz_${name} PRIVATE ${ARGN})
        target_include_directories(fuzz_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/.. ${specdec_root}/tests)
        target_compile_definitions(fuzz_${name} PRIVATE SPECDEC_SOURCE_DIR="${specdec_root}"
                                   SPECDEC_SHARED_DIR="${specdec_shared}")
        set(flags -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -g1)
        target_compile_options(fuzz_${name} PRIVATE ${flags})
        target_link_options(fuzz_${name} PRIVATE ${flags})

        # New inputs go to the build folder; the seeds are only read.
        set(found ${CMAKE_CURRENT_BINARY_DIR}/found_${name})
        file(MAKE_DIRECTORY ${found})
        set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
        if(NOT IS_DIRECTORY ${seeds})
            set(seeds "")
        endif()
        add_test(NAME fuzz/${name}
                 COMMAND fuzz_${name} -max_total_time=${SPECDEC_FUZZ_SECONDS} -timeout=10
                         -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix=${found}/
                         ${found} ${seeds})
    endforeach()
endfunction()
