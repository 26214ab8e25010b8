/* SPDX-License-Identifier: Apache-2.0
 *
 * A libcudart.so.13 that is not the simulated device. It holds no function at all: a program that
 * looks before it calls never notices. */
void gpubound_test_no_function(void);
__attribute__((visibility("default"))) void gpubound_test_no_function(void) {}
