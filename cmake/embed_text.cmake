# SPDX-License-Identifier: Apache-2.0
#
# Writes OUTPUT, a header with one string constant for each of NAMES, read from the file of the
# same position in FILES. Run as a script: cmake -DOUTPUT=.. -DNAMES=.. -DFILES=.. -P this.
set(content "// Generated from analysis/trace/data by embed_text.cmake.\n#pragma once\n")
string(APPEND content "namespace gpubound {\n")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ ${file} text)
  string(APPEND content "inline constexpr char ${name}[] = R\"__(${text})__\";\n")
endforeach()
string(APPEND content "}  // namespace gpubound\n")
file(WRITE ${OUTPUT} "${content}")
