# SPDX-License-Identifier: Apache-2.0
#
# CUDA, CUPTI and NVTX headers: from an installed toolkit if there is one, else from their PyPI
# packages (cuda_headers.py). Only headers are used; nothing is linked.
#
# Defines the target gpubound_cuda_headers (an include path, SYSTEM).
include_guard(GLOBAL)

set(GPUBOUND_CUDA_INCLUDE_DIR "" CACHE PATH "Folder that holds cuda.h, cupti.h and nvtx3/")

# Into |folders|: where the headers out of PyPI packages are. Configuring ends where there are none.
function(gpubound_packaged_headers folders)
  find_package(Python3 COMPONENTS Interpreter)
  set(failed "no Python 3")
  if(Python3_Interpreter_FOUND)
    message(STATUS "No CUDA toolkit here: looking for the headers in their PyPI packages")
    execute_process(
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cuda_headers.py
        ${GPUBOUND_DOWNLOADS}/third_party/cuda
      RESULT_VARIABLE failed OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(failed)
    message(FATAL_ERROR
      "No CUDA toolkit was found and the header packages could not be fetched. Install a CUDA "
      "toolkit (12 or 13), or set CUDA_HOME to one, or give cmake GPUBOUND_CUDA_INCLUDE_DIR, a "
      "folder with cuda.h, cupti.h and nvtx3/; or install pip (Debian: python3-pip) or uv, with "
      "which Python packages are fetched.")
  endif()
  set(${folders} ${found} PARENT_SCOPE)
endfunction()

if(GPUBOUND_CUDA_INCLUDE_DIR)
  set(GPUBOUND_CUDA_INCLUDE_DIRS ${GPUBOUND_CUDA_INCLUDE_DIR})
else()
  find_path(GPUBOUND_TOOLKIT_INCLUDE cuda_runtime_api.h
    PATHS $ENV{CUDA_HOME}/include /usr/local/cuda/include NO_DEFAULT_PATH)
  find_path(GPUBOUND_TOOLKIT_CUPTI cupti.h
    PATHS ${GPUBOUND_TOOLKIT_INCLUDE} ${GPUBOUND_TOOLKIT_INCLUDE}/../extras/CUPTI/include
    NO_DEFAULT_PATH)
  if(GPUBOUND_TOOLKIT_INCLUDE AND GPUBOUND_TOOLKIT_CUPTI)
    set(GPUBOUND_CUDA_INCLUDE_DIRS ${GPUBOUND_TOOLKIT_INCLUDE} ${GPUBOUND_TOOLKIT_CUPTI})
  else()
    gpubound_packaged_headers(GPUBOUND_CUDA_INCLUDE_DIRS)
  endif()
endif()
message(STATUS "CUDA headers: ${GPUBOUND_CUDA_INCLUDE_DIRS}")

add_library(gpubound_cuda_headers INTERFACE)
target_include_directories(gpubound_cuda_headers SYSTEM INTERFACE ${GPUBOUND_CUDA_INCLUDE_DIRS})
