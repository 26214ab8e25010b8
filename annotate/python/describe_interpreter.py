# SPDX-License-Identifier: Apache-2.0
"""Prints what a build of the extension for this interpreter needs: a CMake list of the folder of
Python.h, the file name's ending, whether the stable ABI is used, and a short name for tests ("3_12",
"3_14t" where it is free-threaded)."""
import sys
import sysconfig

free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
stable_abi = sys.version_info >= (3, 12) and not free_threaded
suffix = ".abi3.so" if stable_abi else sysconfig.get_config_var("EXT_SUFFIX")
name = "%d_%d%s" % (*sys.version_info[:2], "t" if free_threaded else "")
print(";".join([sysconfig.get_paths()["include"], suffix, "1" if stable_abi else "0", name]))
