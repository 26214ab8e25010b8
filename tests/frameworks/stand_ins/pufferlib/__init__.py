# SPDX-License-Identifier: Apache-2.0
# Makes the folder a package; see tests/frameworks/libraries_test.py.
