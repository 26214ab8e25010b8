# SPDX-License-Identifier: Apache-2.0
#
# Licences of what is installed, and packages of it: `cpack -G DEB` (or TGZ) in the build folder. Components:
# headers, profiler (the command and the libraries), python, shell (man page, completions, licences).
include_guard(GLOBAL)
include(GNUInstallDirs)

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright
  COMPONENT shell)
# Of libraries that are linked in, as the packages that they come from have them.
foreach(library IN ITEMS libsqlite3-dev libzstd-dev libprotozero-dev libcli11-dev libfmt-dev libspdlog-dev
    nlohmann-json3-dev libsimdjson-dev)
  set(text /usr/share/doc/${library}/copyright)
  if(EXISTS ${text})
    file(REAL_PATH ${text} text)
    install(FILES ${text} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${library}
      COMPONENT shell)
  endif()
endforeach()
get_property(page_licence GLOBAL PROPERTY GPUBOUND_PAGE_LICENCE)
if(page_licence)
  install(FILES ${page_licence} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME d3
    COMPONENT shell)
endif()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME gpubound)
set(CPACK_PACKAGE_VENDOR gpubound)
set(CPACK_PACKAGE_CONTACT "gpubound <gpubound@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cross-stack profiler for reinforcement-learning training")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL headers profiler python shell)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
