/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotated code in other dialects than the tests', as a program of somebody else would have it.
 */
#ifndef GPUBOUND_TESTS_ANNOTATE_USERS_H_
#define GPUBOUND_TESTS_ANNOTATE_USERS_H_

#ifdef __cplusplus
extern "C" {
#endif

/* C11. */
void CUsesEveryMacro(int environment_steps);
void CUsesEveryFunction(const char* name);
int CReturnsFromInsideAScope(int value);

/* C++17 without exceptions and RTTI. */
void Cpp17UsesEveryMacro(int environment_steps);
int Cpp17RunsAConstexprFunction(int value);
void Cpp17UsesEveryClass(const char* name);

/* C and C++ with GPUBOUND_DISABLE; return how often an argument was evaluated. */
int DisabledCUsesEverything(void);
int DisabledCppUsesEverything(void);

#ifdef __cplusplus
}
#endif

#endif /* GPUBOUND_TESTS_ANNOTATE_USERS_H_ */
