# specdec_headers(VARIABLE FOLDER...): the headers of some folders of include/, and the fragments (.inc) that some of
# them include more than once.
function(specdec_headers variable)
    set(patterns "")
    foreach(folder IN LISTS ARGN)
        list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/include/${folder}/*.hpp
                             ${CMAKE_CURRENT_SOURCE_DIR}/include/${folder}/*.inc)
    endforeach()
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${patterns})
    set(${variable} ${headers} PARENT_SCOPE)
endfunction()

# specdec_leave_out(VARIABLE REGEX): removes the files with a line that matches.
function(specdec_leave_out variable regex)
    set(kept "")
    foreach(source IN LISTS ${variable})
        file(STRINGS ${source} lines REGEX "${regex}")
        if(NOT lines)
            list(APPEND kept ${source})
        endif()
    endforeach()
    set(${variable} ${kept} PARENT_SCOPE)
endfunction()

# specdec_move_headers(TO FROM LIST [UNDER FOLDER] [INCLUDING TEXT]): moves the headers that lie in the FOLDER of include/,
# or that have an "#include TEXT".
function(specdec_move_headers to)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;UNDER;INCLUDING" "")
    set(kept "")
    set(moved "")
    foreach(header IN LISTS ${arg_FROM})
        if(DEFINED arg_UNDER)
            set(folder ${CMAKE_CURRENT_SOURCE_DIR}/include/${arg_UNDER})
            cmake_path(IS_PREFIX folder ${header} moves)
        else()
            file(STRINGS ${header} moves REGEX "^ *#include ${arg_INCLUDING}")
        endif()
        if(moves)
            list(APPEND moved ${header})
        else()
            list(APPEND kept ${header})
        endif()
    endforeach()
    set(${arg_FROM} ${kept} PARENT_SCOPE)
    set(${to} ${moved} PARENT_SCOPE)
endfunction()

# specdec_library(NAME HEADERS file... [LINK target...]): the header-only target specdec::NAME, its
# headers as a file set (each verified to compile alone), installed and exported as a component.
function(specdec_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LINK")
    set(target specdec_${name})
    set(fragments ${arg_HEADERS})
    list(FILTER fragments INCLUDE REGEX "\\.inc$")
    list(FILTER arg_HEADERS EXCLUDE REGEX "\\.inc$")

    add_library(${target} INTERFACE)
    add_library(specdec::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
        EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ${SPECDEC_BUILD_TESTS}
        INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_sources(${target} INTERFACE
        FILE_SET HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR}/include FILES ${arg_HEADERS}
        FILE_SET fragments TYPE HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR}/include FILES ${fragments})
    target_link_libraries(${target} INTERFACE ${arg_LINK})

    install(TARGETS ${target} EXPORT specdec-${name} FILE_SET HEADERS DESTINATION include
            FILE_SET fragments DESTINATION include)
    install(EXPORT specdec-${name} NAMESPACE specdec:: DESTINATION lib/cmake/specdec)
endfunction()
