# SPDX-License-Identifier: Apache-2.0
#
# For wheels: the analysis once. The command, SQLite's extension and the Python reader each have it in them, which
# is most of their size. Here libgpubound_engine.so has all three, and they are files that load it: the
# command's calls its main, and in the other two the loader finds the engine's entry points, since a search in a
# library goes on in those that it needs.
#
# A program that is not Python has no functions of Python: references to them are weak in the engine, and nothing
# but the reader, which Python alone loads, uses them.
#
# Included before the rooms: gpubound_engine_part() is called by theirs. Included with GPUBOUND_GLIBC_DIR alone.
include_guard(GLOBAL)

set(GPUBOUND_ENGINE_MAP ${CMAKE_SOURCE_DIR}/tools/commands/engine.map)
add_library(gpubound_engine SHARED)
set_target_properties(gpubound_engine PROPERTIES CXX_VISIBILITY_PRESET default
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINK_DEPENDS ${GPUBOUND_ENGINE_MAP})
target_link_libraries(gpubound_engine PRIVATE gpubound_flags)
target_link_options(gpubound_engine PRIVATE LINKER:--version-script=${GPUBOUND_ENGINE_MAP}
  LINKER:-z,nodelete LINKER:-z,now LINKER:-z,relro LINKER:-z,defs)

# gpubound_engine_file(TARGET FOLDER): TARGET, a library or program that lies in FOLDER below the prefix, gets what it
# is from the engine.
function(gpubound_engine_file target folder)
  file(RELATIVE_PATH to_engine /${folder} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_engine}")
  target_link_libraries(${target} PRIVATE gpubound_engine)
  target_link_options(${target} PRIVATE LINKER:--no-as-needed LINKER:-z,nodelete LINKER:-z,now LINKER:-z,relro)
endfunction()
