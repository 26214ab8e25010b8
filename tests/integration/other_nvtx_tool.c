/* SPDX-License-Identifier: Apache-2.0
 *
 * Another tool that a user has set NVTX_INJECTION64_PATH to: says when it is asked, and wants no
 * ranges. */
#include <stdio.h>

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_export_table) {
  (void)get_export_table;
  puts("the other tool was asked");
  fflush(stdout);
  return 0;
}
