# SPDX-License-Identifier: Apache-2.0
#
# A build that runs with an older C library than this system's, and needs no other library (docs/wheels.md).
# Included before packages are looked for: they are found as archives then.
include_guard(GLOBAL)

set(GPUBOUND_GLIBC_DIR "" CACHE PATH
  "Folder of tools/packaging/old_glibc.py: link with the C library in it, and nothing else that is shared")
if(NOT GPUBOUND_GLIBC_DIR)
  return()
endif()
foreach(file IN ITEMS Scrt1.o libc.so libold_glibc.a libsimdjson.a)
  if(NOT EXISTS ${GPUBOUND_GLIBC_DIR}/${file})
    message(FATAL_ERROR "GPUBOUND_GLIBC_DIR is ${GPUBOUND_GLIBC_DIR}, which has no ${file}. Make the folder by "
      "tools/packaging/old_glibc.py ${GPUBOUND_GLIBC_DIR}")
  endif()
endforeach()
# -B: start files are looked for there too.
add_link_options(-B${GPUBOUND_GLIBC_DIR} -L${GPUBOUND_GLIBC_DIR} -static-libstdc++ -static-libgcc
  LINKER:--exclude-libs,ALL LINKER:--as-needed LINKER:--gc-sections)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
# Debian's package knows the shared one only.
find_path(SIMDJSON_INCLUDE_DIR simdjson.h REQUIRED)
add_library(simdjson::simdjson STATIC IMPORTED GLOBAL)
set_target_properties(simdjson::simdjson PROPERTIES IMPORTED_LOCATION ${GPUBOUND_GLIBC_DIR}/libsimdjson.a
  INTERFACE_INCLUDE_DIRECTORIES ${SIMDJSON_INCLUDE_DIR} INTERFACE_COMPILE_DEFINITIONS SIMDJSON_THREADS_ENABLED=1)
