/* SPDX-License-Identifier: Apache-2.0
 *
 * A child of vfork runs in its parent's memory, and where it calls exit() by mistake, as after an
 * exec that failed, it must not end its parent's recording. To ask for the process id at each exit
 * would end a program that has forbidden itself that (seccomp), so the library notices vfork and
 * asks only where there was one.
 *
 * Any thread. No function in C may return twice: as the C library's own, this one keeps its return
 * address in a register, since the child writes over the stack.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "libprofiler/shim/shim.h"

#if defined(__x86_64__)
char shim_has_vforked = 0;

__attribute__((visibility("hidden"), used)) int ShimVforkFailed(int error) {
  errno = error;
  return -1;
}

__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl vfork\n"
    ".type vfork, @function\n"
    "vfork:\n"
    "  endbr64\n"
    "  movb $1, shim_has_vforked(%rip)\n"
    "  popq %rdi\n"
    "  movl $58, %eax\n" /* SYS_vfork */
    "  syscall\n"
    "  pushq %rdi\n"
    "  cmpq $-4095, %rax\n"
    "  jae 1f\n"
    "  ret\n"
    "1:\n"
    "  negl %eax\n"
    "  movl %eax, %edi\n"
    "  jmp ShimVforkFailed\n"
    ".size vfork, .-vfork\n");
#else
char shim_has_vforked = 1;
#endif
