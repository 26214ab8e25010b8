# SPDX-License-Identifier: Apache-2.0
#
# The annotation headers of the checkout that this port lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DGPUBOUND_HEADERS_ONLY=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME gpubound CONFIG_PATH lib/cmake/gpubound)
vcpkg_fixup_pkgconfig()

# Headers are the same in every build type.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug" "${CURRENT_PACKAGES_DIR}/lib")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
