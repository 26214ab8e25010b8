# SPDX-License-Identifier: Apache-2.0
#
# Writes the table of (callback id, name) pairs that cuptiGetCallbackName answers from, out of the
# enumeration in a CUPTI header.
#
#   cmake -DHEADER=cupti_runtime_cbid.h -DPREFIX=CUPTI_RUNTIME_TRACE_CBID_ -DOUTPUT=file.inc -P this
file(STRINGS ${HEADER} lines REGEX "${PREFIX}[A-Za-z0-9_]+ *= *[0-9]+")
set(table "")
foreach(line IN LISTS lines)
  if(line MATCHES "${PREFIX}([A-Za-z0-9_]+) *= *([0-9]+)")
    string(APPEND table "{${CMAKE_MATCH_2}, \"${CMAKE_MATCH_1}\"},\n")
  endif()
endforeach()
if(table STREQUAL "")
  message(FATAL_ERROR "${HEADER} holds no enumerator that begins with ${PREFIX}")
endif()
file(WRITE ${OUTPUT} "${table}")
