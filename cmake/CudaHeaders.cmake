# SPDX-License-Identifier: Apache-2.0
#
# CUDA, CUPTI and NVTX headers: from an installed toolkit if there is one, else from their PyPI
# packages, unpacked into build/third_party/cuda. Only headers are used; nothing is linked.
#
# Defines the target gpubound_cuda_headers (an include path, SYSTEM).
include_guard(GLOBAL)

set(GPUBOUND_CUDA_INCLUDE_DIR "" CACHE PATH "Folder that holds cuda.h, cupti.h and nvtx3/")
if(NOT GPUBOUND_CUDA_INCLUDE_DIR)
  find_path(GPUBOUND_TOOLKIT_INCLUDE cuda_runtime_api.h
    PATHS $ENV{CUDA_HOME}/include /usr/local/cuda/include NO_DEFAULT_PATH)
  find_path(GPUBOUND_TOOLKIT_CUPTI cupti.h
    PATHS ${GPUBOUND_TOOLKIT_INCLUDE} ${GPUBOUND_TOOLKIT_INCLUDE}/../extras/CUPTI/include
    NO_DEFAULT_PATH)
  if(GPUBOUND_TOOLKIT_INCLUDE AND GPUBOUND_TOOLKIT_CUPTI)
    set(GPUBOUND_CUDA_INCLUDE_DIRS ${GPUBOUND_TOOLKIT_INCLUDE} ${GPUBOUND_TOOLKIT_CUPTI})
  else()
    set(fetched ${CMAKE_SOURCE_DIR}/build/third_party/cuda)
    if(NOT EXISTS ${fetched}/include/cupti.h)
      find_package(Python3 REQUIRED COMPONENTS Interpreter)
      message(STATUS "Fetching CUDA and CUPTI headers from their PyPI packages")
      execute_process(
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/fetch_cuda_headers.py ${fetched}
        RESULT_VARIABLE failed)
      if(failed)
        message(FATAL_ERROR
          "No CUDA toolkit was found and the header packages could not be fetched. Install a CUDA "
          "toolkit (12 or 13), or set CUDA_HOME to one, or give cmake GPUBOUND_CUDA_INCLUDE_DIR, a "
          "folder with cuda.h, cupti.h and nvtx3/.")
      endif()
    endif()
    set(GPUBOUND_CUDA_INCLUDE_DIRS ${fetched}/include)
  endif()
else()
  set(GPUBOUND_CUDA_INCLUDE_DIRS ${GPUBOUND_CUDA_INCLUDE_DIR})
endif()
message(STATUS "CUDA headers: ${GPUBOUND_CUDA_INCLUDE_DIRS}")

add_library(gpubound_cuda_headers INTERFACE)
target_include_directories(gpubound_cuda_headers SYSTEM INTERFACE ${GPUBOUND_CUDA_INCLUDE_DIRS})
