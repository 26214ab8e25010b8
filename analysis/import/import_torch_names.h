// SPDX-License-Identifier: Apache-2.0
//
// What names tell that PyTorch gives to its own events. Pure.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_TORCH_NAMES_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_TORCH_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

namespace gpubound {

// A user_annotation that PyTorch opens, so that its presence does not say that the program
// annotates: of optimizers, data loaders and wrappers of modules.
bool IsTorchsOwnRange(std::string_view name);

// The operation that an event of PyTorch's stands for in a profile without annotations: "optimizer"
// for "Optimizer.step#Adam.step"; nothing where it stands for none.
std::optional<std::string_view> OperationOfTorchRange(std::string_view name);
inline constexpr std::string_view kBackwardOperation = "backpropagation";

// "Net" of "nn.Module: Net_0"; empty where |name| is that of no module's call.
std::string_view ModuleOf(std::string_view name);

// A node of the graph that backward() walks, as an operator.
bool IsBackwardNode(std::string_view name);

// A function that Python calls and that is none of Python's: "<built-in method ...>".
bool IsNativeFunction(std::string_view name);

// |name| as torch.autograd.profiler.emit_nvtx() and nsys --pytorch call a range, without what makes
// it unique: "aten::mm" of "aten::mm, seq = 12, op_id = 7012".
std::string_view WithoutCallIds(std::string_view name);

// "step # of #" of "step 17 of 90".
std::string WithoutNumbers(std::string_view name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_TORCH_NAMES_H_
