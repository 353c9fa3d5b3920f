# cmake -D COMPILER= -D SOURCE= -D INCLUDE= -P: succeeds if SOURCE is refused for the stated reason.
file(STRINGS ${SOURCE} stated REGEX "^// build error: .+")
if(NOT stated MATCHES "^// build error: (.+)$")
    message(FATAL_ERROR "${SOURCE} has no line '// build error: REGEX'")
endif()
set(expected "${CMAKE_MATCH_1}")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I ${INCLUDE} ${SOURCE}
                RESULT_VARIABLE status ERROR_VARIABLE diagnostics)
if(status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiles; it should fail with '${expected}'")
elseif(NOT diagnostics MATCHES "${expected}")
    message(FATAL_ERROR "${SOURCE} should fail with '${expected}', but:\n${diagnostics}")
endif()
