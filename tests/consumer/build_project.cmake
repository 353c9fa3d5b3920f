# Configures, builds and runs PROJECT in a fresh folder OUT/NAME; all else is handed to it. Without
# COMPONENTS every package that specdec could look for is hidden: specdec::specdec needs none.
set(arguments -G ${CMAKE_GENERATOR} -D CMAKE_BUILD_TYPE=Debug)
foreach(variable CMAKE_CXX_COMPILER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_MAKE_PROGRAM
                 CMAKE_PREFIX_PATH llama_DIR OpenVINO_DIR SPECDEC_SOURCE VERSION COMPONENTS OPTIONAL
                 README LINES)
    if(NOT "${${variable}}" STREQUAL "")
        list(APPEND arguments -D "${variable}=${${variable}}")
    endif()
endforeach()
if(NOT COMPONENTS)
    foreach(package Boost Eigen3 xtensor range-v3 nlohmann_json PCRE2 utf8proc PkgConfig Threads)
        list(APPEND arguments -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
    endforeach()
endif()
file(REMOVE_RECURSE ${OUT}/${NAME} ${OUT}/${NAME}_source)
if(LINES) # a copy, as the project gets a folder of its own
    file(COPY ${PROJECT}/ DESTINATION ${OUT}/${NAME}_source)
    set(PROJECT ${OUT}/${NAME}_source)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${PROJECT} -B ${OUT}/${NAME} ${arguments}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${OUT}/${NAME} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OUT}/${NAME}/consumer COMMAND_ERROR_IS_FATAL ANY)
