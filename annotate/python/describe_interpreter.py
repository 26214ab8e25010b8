# SPDX-License-Identifier: Apache-2.0
"""Prints what builds of the extension for this interpreter need: a CMake list of the folder of Python.h; the
file name's ending of one for this version alone; whether the stable ABI of 3.9 is "none" for it (free-threaded),
stands "beside" its own, which 3.9 and 3.10 call a little faster, or serves it "alone"; and a short name for tests
("3_12", "3_14t" where it is free-threaded)."""
import sys
import sysconfig

free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
stable_abi = "none" if free_threaded else "beside" if sys.version_info < (3, 12) else "alone"
name = "%d_%d%s" % (*sys.version_info[:2], "t" if free_threaded else "")
print(";".join([sysconfig.get_paths()["include"], sysconfig.get_config_var("EXT_SUFFIX"), stable_abi, name]))
