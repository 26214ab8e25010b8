// SPDX-License-Identifier: Apache-2.0
//
// Domains of labels that more than one room knows. Values are part of the trace format.
#ifndef GPUBOUND_PROTO_SCOPE_DOMAINS_H_
#define GPUBOUND_PROTO_SCOPE_DOMAINS_H_

namespace gpubound {

// Of operations that are scopes inside a jitted function (jax.named_scope). They are opened where
// XLA launches, or puts into a CUDA graph, what was traced in them; so of a graph's node the
// operation that was open where it was made is what it belongs to, however often the graph is
// launched.
inline constexpr char kJittedDomain[] = "jax";

// A thread's last event, where it ends before the recording does, opens a scope of layer wait with
// this label: from there on it does nothing. Nothing closes it.
inline constexpr char kThreadEndDomain[] = "gpubound";
inline constexpr char kThreadEndText[] = "thread ended";

// Of layer wait: a function of the C library in which the thread was blocked, as the recorder has
// seen itself; the text is one name for each of its kind (libprofiler/native_waits.cc).
inline constexpr char kNativeWaitDomain[] = "native";

// Facts that hooks record of a training loop, as annotations; analysis/naming makes operations of
// them. Known to annotate/python too (gpubound/_facts.py).
// Calls of modules by the class, while gradients are off and on.
inline constexpr char kModuleDomain[] = "module";
inline constexpr char kModuleWithGradientsDomain[] = "module with gradients";
// Calls of a program's jitted functions, and waits for their results; those named as training
// steps.
inline constexpr char kJittedCallDomain[] = "jitted";
inline constexpr char kJittedTrainingDomain[] = "jitted training step";
// Of operations that hooks of a library or rules of the analysis name, and not the program itself;
// of a framework's timer around whole iterations. Known to annotate/python too.
inline constexpr char kRulesDomain[] = "rules";
inline constexpr char kTurnDomain[] = "turn";
// Of the operations `rollout` and `update`, as far as the program could tell where they begin.
inline constexpr char kStageDomain[] = "stage";

// Of a scope of layer backend that an importer wrote since another thread worked meanwhile: nothing
// was entered there.
inline constexpr char kAssumedDomain[] = "import";
inline constexpr char kWaitsForThread[] = "(waits for another thread)";

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_SCOPE_DOMAINS_H_
