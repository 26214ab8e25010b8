/* SPDX-License-Identifier: Apache-2.0
 *
 * The C table through which annotated programs reach the collector: the only ABI between a
 * program that compiled annotate.h in and whatever version of gpubound is injected later.
 *
 * Finding it: dlsym(RTLD_DEFAULT, "gpubound_api_v1"), else the same symbol in the library named by
 * $GPUBOUND_LIBRARY, else no profiler is there and every annotation is a no-op.
 *
 * Every function may be called from any thread at any time, never fails visibly and never throws.
 */
#ifndef GPUBOUND_API_H_
#define GPUBOUND_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of these headers; the build checks that it is that of the project. GPUBOUND_VERSION_NUMBER of
 * 1.2.3 is 10203. */
#define GPUBOUND_VERSION_MAJOR 0
#define GPUBOUND_VERSION_MINOR 1
#define GPUBOUND_VERSION_PATCH 0
#define GPUBOUND_VERSION_NUMBER \
  (GPUBOUND_VERSION_MAJOR * 10000 + GPUBOUND_VERSION_MINOR * 100 + GPUBOUND_VERSION_PATCH)

/* Of the table below: another one is not compatible with it. */
#define GPUBOUND_API_VERSION 1u

/* Kinds of label; values of gpubound::LabelKind. */
enum gpubound_label_kind {
  GPUBOUND_LABEL_OPERATION = 1,
  GPUBOUND_LABEL_ANNOTATION = 2,
  GPUBOUND_LABEL_LAYER = 3,
  GPUBOUND_LABEL_PHASE = 4,
  GPUBOUND_LABEL_COUNTER = 5
};

/* A bit to add to a label for `begin` and `end`: the scope is a block of the program's text, so
 * that nothing which was opened inside it outlasts it. Two such scopes of one label are of one
 * kind, and others of that label of another. */
#define GPUBOUND_LABEL_BLOCK 0x100000u

/* Layers; values of gpubound::Layer. */
enum gpubound_layer {
  GPUBOUND_LAYER_unset = 0,
  GPUBOUND_LAYER_python = 1,
  GPUBOUND_LAYER_wait = 2,
  GPUBOUND_LAYER_native = 3,
  GPUBOUND_LAYER_simulator = 4,
  GPUBOUND_LAYER_backend = 5
};

/* Fields are appended, never moved: read one only if `size` covers it. */
struct gpubound_api {
  uint32_t size;    /* bytes of this structure as the collector built it */
  uint32_t version; /* GPUBOUND_API_VERSION */

  /* Interns a name; the same arguments give the same id for the life of the process, and 0 only
   * where nothing can be recorded. Ids mean the same in a fork child. `domain` may be NULL; strings
   * are copied, names beyond 4096 bytes and domains beyond 255 cut, which is counted. `layer` is
   * read for GPUBOUND_LABEL_LAYER only. */
  uint32_t (*label)(uint32_t kind, uint32_t layer, const char* domain, const char* text,
                    size_t text_length);

  /* Opens and closes a scope on the calling thread. `end` closes the innermost open scope with
   * that label; without one it is counted and ignored. Scopes of labels with GPUBOUND_LABEL_BLOCK
   * are blocks of the program's text: the end of one closes those that are still open inside it,
   * which is counted. The collector may exchange the two at any time: load them, as relaxed
   * atomics, at each call. */
  void (*begin)(uint32_t label);
  void (*end)(uint32_t label);

  void (*phase)(uint32_t label);                 /* process-wide, until the next */
  void (*step)(uint64_t iteration);              /* ends iteration number `iteration` */
  void (*counter)(uint32_t label, double value); /* any value, NaN too; it is kept as it is */

  /* Explicit hand-over of the innermost open operation: `hand_over` returns a token, `adopt` on
   * another thread opens a scope of that operation there, `drop` closes it. */
  uint64_t (*hand_over)(void);
  void (*adopt)(uint64_t token);
  void (*drop)(uint64_t token);

  /* From `pause` to `resume`, or to the end, GPU time of this process is unknown to the report:
   * work that the user does not want to be counted. Scopes go on being followed. */
  void (*pause)(void);
  void (*resume)(void);

  /* Adds to the ledger counter of that name (proto/ledger_counters.h) and puts a line of prose
   * beside it. Either may be NULL; a name that this collector does not know adds the line only. */
  void (*ledger)(const char* counter, uint64_t amount, const char* note, size_t note_length);

  /* Labels of the calling thread's open scopes, outermost first, into `labels`, at most
   * `capacity`; returns how many are open, none once `ended`. open_scopes(NULL, 0) only counts
   * them. Lets a scheduler of coroutines close what a suspended one left open, and open it again. */
  uint32_t (*open_scopes)(uint32_t* labels, uint32_t capacity);

  /* 1 once the recording has ended while the program goes on, as `gpubound run --steps A:B` has it;
   * what was put into the program to be recorded can then be taken out again. Else 0. */
  uint32_t (*ended)(void);

  /* Who lets whom go on, between threads of a process: `wake` before those are woken that wait for
   * `what`, any number that both know, as the address of a condition variable or one of its own for
   * each item of a queue; `woken` on such a thread once it was, while its wait (a scope of the
   * layer wait) is open. A thread that has recorded nothing yet records no `wake`; of its `woken`
   * the last one comes before its first event, and says because of whom it begins. */
  void (*wake)(uint64_t what);
  void (*woken)(uint64_t what);
  /* A thread that comes for `what` has it: whether it had to wait is told by `woken`, if at all. */
  void (*found)(uint64_t what);

  /* The label of the phase that holds, as the last `phase` gave it; 0 before the first. */
  uint32_t (*current_phase)(void);

  /* The iteration that `step` ends next begins now: what came since the one before is none, as the
   * time between the cells of a notebook. Not needed where iterations follow on each other. */
  void (*begin_iterations)(void);
};

/* A `what` that is a time, GPUBOUND_AT_TIME | ns of CLOCK_MONOTONIC: `wake` when a thread sets it,
 * as a timer; who waits for it goes on then by itself. */
#define GPUBOUND_AT_TIME ((uint64_t)1 << 63)

/* A `what` that processes of one machine know alike, GPUBOUND_SHARED | a number below 2^62, as of
 * one collective of a group: `wake` as each of them enters it, `woken` when it has waited for the
 * others. Whoever entered it last let the others go on. */
#define GPUBOUND_SHARED ((uint64_t)1 << 62)

/* Exported by libgpubound.so. NULL when the collector cannot record in this process. */
const struct gpubound_api* gpubound_api_v1(void);

#ifdef __cplusplus
}
#endif

#endif /* GPUBOUND_API_H_ */
