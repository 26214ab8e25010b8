# SPDX-License-Identifier: Apache-2.0
"""Prints what a build of the extension for this interpreter needs: a CMake list of the folder of
Python.h, the file name's ending, and whether the stable ABI is used."""
import sys
import sysconfig

free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
stable_abi = sys.version_info >= (3, 12) and not free_threaded
suffix = ".abi3.so" if stable_abi else sysconfig.get_config_var("EXT_SUFFIX")
print(";".join([sysconfig.get_paths()["include"], suffix, "1" if stable_abi else "0"]))
