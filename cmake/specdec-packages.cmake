# The packages of each component: read by this project's build and by an installed specdec alike.
# An entry is what find_package is given. PCRE2 and utf8proc come with find modules beside this file.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

set(specdec_packages_specdec "")
set(specdec_packages_vocab "Boost 1.81")
set(specdec_packages_eigen "Eigen3") # 3.4 or newer: with a number, 3.4 refuses to be 5, or 5 to be 3.4
set(specdec_packages_xtensor "xtensor 0.24")
set(specdec_packages_llama_cpp "llama") # finds ggml itself
set(specdec_packages_openvino "OpenVINO")
set(specdec_packages_reference_transformer ${specdec_packages_eigen} ${specdec_packages_xtensor} "range-v3"
    "nlohmann_json 3.11")
set(specdec_packages_engine ${specdec_packages_vocab} ${specdec_packages_eigen} ${specdec_packages_xtensor}
    "nlohmann_json 3.11" "PCRE2" "utf8proc" "Threads")
set(specdec_packages_engine_learn ${specdec_packages_engine})

# specdec_check_component(NAME VARIABLE): what is wrong with the name of a component; empty: nothing.
function(specdec_check_component name variable)
    set(problem "")
    if(name STREQUAL "reference")
        string(CONCAT problem "the component 'reference' is called 'engine' (headers <specdec_engine/...>), and its "
               "training 'engine_learn'; the transformer that computes with Eigen is 'reference_transformer'")
    elseif(NOT DEFINED specdec_packages_${name})
        set(problem "specdec has no component '${name}'")
    endif()
    set(${variable} "${problem}" PARENT_SCOPE)
endfunction()
