/* SPDX-License-Identifier: Apache-2.0
 *
 * What is in a library that only loads another (cmake/OneLibrary.cmake). */
typedef int gpubound_nothing;
