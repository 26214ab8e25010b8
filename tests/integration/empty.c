/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a library that is there for its file name only. */
int gpubound_test_empty; /* a translation unit must not be empty */
