# SPDX-License-Identifier: Apache-2.0
#
# libgpubound_core.so: the collector and the device sources of this build, as the shim, the CUDA
# driver and NVTX load it. Included after every room has been read.
include_guard(GLOBAL)
include(GNUInstallDirs)

set(core_dir ${CMAKE_SOURCE_DIR}/libprofiler)
set(GPUBOUND_SOURCE_DECLARATIONS "")
set(GPUBOUND_SOURCE_NAMES "")
if(TARGET gpubound_cupti_hooks)
  foreach(source Cupti Utilization Counter)
    string(APPEND GPUBOUND_SOURCE_DECLARATIONS
      "std::unique_ptr<DeviceSource> Create${source}Source();\n")
    string(APPEND GPUBOUND_SOURCE_NAMES "&Create${source}Source, ")
  endforeach()
endif()
configure_file(${core_dir}/device_sources.cc.in ${CMAKE_BINARY_DIR}/generated/device_sources.cc
  @ONLY)

add_library(gpubound_core SHARED
  ${core_dir}/core_entry.cc ${CMAKE_BINARY_DIR}/generated/device_sources.cc)
set_target_properties(gpubound_core PROPERTIES LINK_DEPENDS ${core_dir}/exports.map)
target_link_libraries(gpubound_core PRIVATE gpubound_flags)
if(TARGET gpubound_cupti_hooks)
  get_target_property(hooks_type gpubound_cupti_hooks TYPE)
  if(hooks_type STREQUAL "STATIC_LIBRARY")
    # Nothing refers to InitializeInjection; the driver looks it up by name.
    target_link_libraries(gpubound_core PRIVATE
      $<LINK_LIBRARY:WHOLE_ARCHIVE,gpubound_cupti_hooks>)
  else()
    target_link_libraries(gpubound_core PRIVATE gpubound_cupti_hooks)
  endif()
endif()
target_link_libraries(gpubound_core PRIVATE gpubound_profiler)
target_link_options(gpubound_core PRIVATE
  LINKER:--version-script=${core_dir}/exports.map LINKER:-Bsymbolic LINKER:-z,nodelete
  LINKER:-z,now LINKER:-z,relro LINKER:--exclude-libs,ALL LINKER:--as-needed LINKER:--build-id
  LINKER:--gc-sections)
if(NOT GPUBOUND_SANITIZE)
  # A sanitizer's runtime resolves its symbols in the program.
  target_link_options(gpubound_core PRIVATE LINKER:-z,defs -static-libstdc++ -static-libgcc)
endif()
gpubound_install(profiler ${CMAKE_INSTALL_LIBDIR} gpubound_core)
