vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO @REPOSITORY@
    REF "v${VERSION}"
    SHA512 @SHA512@
    HEAD_REF main
)

set(VCPKG_BUILD_TYPE release) # header-only
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DSPECDEC_BUILD_TESTS=OFF
        -DSPECDEC_BUILD_EXAMPLES=OFF
        -DSPECDEC_BUILD_BENCHMARKS=OFF
        -DSPECDEC_COMPONENTS= # whoever links a part looks for its package
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/specdec)

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
