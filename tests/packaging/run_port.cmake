# SPDX-License-Identifier: Apache-2.0
#
# Runs the portfile as vcpkg does, with as much of vcpkg's own functions as it uses:
# cmake -DPORT=.. -DCURRENT_PACKAGES_DIR=.. -DBUILD=.. -P this
macro(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endmacro()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(ARG "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  run(cmake -G Ninja -S ${ARG_SOURCE_PATH} -B ${BUILD} ${ARG_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
  run(cmake --install ${BUILD} --prefix ${CURRENT_PACKAGES_DIR})
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(ARG "" "PACKAGE_NAME;CONFIG_PATH" "" ${ARGN})
  file(MAKE_DIRECTORY ${CURRENT_PACKAGES_DIR}/share)
  set(moved ${CURRENT_PACKAGES_DIR}/share/${ARG_PACKAGE_NAME})
  file(RENAME ${CURRENT_PACKAGES_DIR}/${ARG_CONFIG_PATH} ${moved})
  # One folder less below the prefix.
  file(READ ${moved}/${ARG_PACKAGE_NAME}-config.cmake config)
  string(REPLACE "PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nget" "PATH)\nget"
    config "${config}")
  file(WRITE ${moved}/${ARG_PACKAGE_NAME}-config.cmake "${config}")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(ARG "" "" "FILE_LIST" ${ARGN})
  file(COPY_FILE ${ARG_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/gpubound/copyright)
endfunction()
include(${PORT}/portfile.cmake)
