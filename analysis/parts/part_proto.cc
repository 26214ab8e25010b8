// SPDX-License-Identifier: Apache-2.0
//
// Goes through the fields of a message and of all that it holds. No state but of one call.
#include "analysis/parts/part_proto.h"

#include <concepts>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/parts/part_fields.h"

namespace gpubound {
namespace {

constexpr char kHead[] = R"(// SPDX-License-Identifier: Apache-2.0
//
// A machine's part of a run, as `gpubound part` writes it (docs/many_machines.md). What the fields mean
// is said where the structs of the same names are. Times are ns, mostly of the machine's
// CLOCK_MONOTONIC; shares are 0 to 1. A field that is not there has the value of a new struct.
//
// Made from analysis/parts/part_fields.h, which is changed instead.
syntax = "proto3";

package gpubound.part;

)";

class ProtoFile {
 public:
  template <typename Struct>
  void Add() {
    const std::string name = MessageName(Tag<Struct>());
    if (!known_.insert(name).second) return;
    std::string text = "message " + name + " {\n";
    ForEachField<Struct>([&](int number, const auto& field) {
      using Type = std::remove_cvref_t<decltype(std::declval<Struct>().*field.member)>;
      text += "  " + TypeOf<Type>() + " " + field.name + " = " + std::to_string(number) + ";\n";
    });
    messages_.push_back(text + "}\n");
  }
  std::string Text() const {
    std::string text = kHead;
    for (size_t m = 0; m < messages_.size(); ++m) text += (m == 0 ? "" : "\n") + messages_[m];
    return text;
  }

 private:
  template <typename Type>
  struct Tag {};
  template <typename Type>
  std::string TypeOf() {
    return TypeOf(Tag<Type>());
  }
  template <typename Type>
    requires std::integral<Type> || std::is_enum_v<Type> || std::same_as<Type, double> ||
             std::same_as<Type, std::string>
  std::string TypeOf(Tag<Type> /*type*/) {
    return "optional " + NameOf<Type>();
  }
  template <IsMessage Struct>
  std::string TypeOf(Tag<Struct> /*type*/) {
    return NameOf<Struct>();
  }
  template <typename Value>
  std::string TypeOf(Tag<std::optional<Value>> /*type*/) {
    return "optional " + NameOf<Value>();
  }
  template <typename Element>
  std::string TypeOf(Tag<std::vector<Element>> /*type*/) {
    return "repeated " + NameOf<Element>();
  }
  template <typename Number>
  std::string TypeOf(Tag<std::vector<std::vector<Number>>> /*type*/) {
    return "repeated " + NameOf<NumberList<Number>>();
  }
  template <typename Value>
  std::string TypeOf(Tag<std::set<Value>> /*type*/) {
    return "repeated " + NameOf<Value>();
  }
  template <typename Key, typename Value>
  std::string TypeOf(Tag<std::map<Key, Value>> /*type*/) {
    return "repeated " + NameOf<std::pair<Key, Value>>();
  }
  std::string TypeOf(Tag<Ledger> /*type*/) {
    return "repeated " + NameOf<std::pair<std::string, uint64_t>>();
  }

  // Adds the message, where it is one.
  template <typename Type>
  std::string NameOf() {
    if constexpr (std::same_as<Type, bool>) {
      return "uint64";
    } else if constexpr (std::same_as<Type, double>) {
      return "double";
    } else if constexpr (std::same_as<Type, std::string>) {
      return "bytes";
    } else if constexpr (!IsMessage<Type>) {
      return std::is_signed_v<Type> ? "sint64" : "uint64";
    } else {
      const std::string name = MessageName(Tag<Type>());
      if (!known_.contains(name)) Add<Type>();
      return name;
    }
  }
  template <typename Struct>
  std::string MessageName(Tag<Struct> /*type*/) {
    return MessageOf<Struct>::kName;
  }
  template <typename First, typename Second>
  std::string MessageName(Tag<std::pair<First, Second>> /*type*/) {
    return Part<First>() + "And" + Part<Second>();
  }
  template <typename Number>
  std::string MessageName(Tag<NumberList<Number>> /*type*/) {
    return std::is_signed_v<Number> ? "SignedNumbers" : "Numbers";
  }
  template <typename Type>
  std::string Part() {
    if constexpr (std::same_as<Type, std::string>)
      return "Name";
    else if constexpr (std::same_as<Type, double>)
      return "Double";
    else if constexpr (std::integral<Type>)
      return "Number";
    else
      return "Numbers";
  }

  std::set<std::string> known_;
  std::vector<std::string> messages_;
};

}  // namespace

std::string PartProto() {
  ProtoFile file;
  file.Add<MachinePart>();
  return file.Text();
}

}  // namespace gpubound
