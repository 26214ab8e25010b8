// SPDX-License-Identifier: Apache-2.0
//
// Says once which fields a struct has, so that writing, reading and describing it (part.proto) need
// no list of their own:
//
//   GPUBOUND_MESSAGE(Interval, begin_ns, end_ns)
//
// The number of a field in its message is its place here, from 1: fields are added at the end and
// never removed. Where a field of the struct is missing from the list, it does not compile;
// GPUBOUND_PART_OF_MESSAGE is for structs of which a message holds only some.
#ifndef GPUBOUND_ANALYSIS_PARTS_MESSAGE_FIELDS_H_
#define GPUBOUND_ANALYSIS_PARTS_MESSAGE_FIELDS_H_

#include <cstddef>
#include <tuple>
#include <utility>

namespace gpubound {

template <typename Struct, typename Member>
struct MessageField {
  const char* name;
  Member Struct::*member;
};

template <typename Struct, typename Member>
MessageField(const char*, Member Struct::*) -> MessageField<Struct, Member>;

// kName, kFields
template <typename Struct>
struct MessageOf;

template <typename Type>
concept IsMessage = requires { MessageOf<Type>::kFields; };

// How many fields an aggregate has.
struct AnyValue {
  template <typename Type>
  operator Type() const;  // NOLINT(google-explicit-constructor): it stands for a value of any type
};
template <typename Struct, size_t... Places>
constexpr bool TakesValues(std::index_sequence<Places...> /*places*/) {
  return requires { Struct{((void)Places, AnyValue{})...}; };
}
template <typename Struct, size_t kCount = 0>
constexpr size_t FieldCount() {
  if constexpr (TakesValues<Struct>(std::make_index_sequence<kCount + 1>())) {
    return FieldCount<Struct, kCount + 1>();
  } else {
    return kCount;
  }
}

// Calls |on_field|(number, field) for each field of a message.
template <typename Struct, typename OnField>
constexpr void ForEachField(OnField on_field) {
  std::apply(
      [&](const auto&... field) {
        int number = 0;
        (on_field(++number, field), ...);
      },
      MessageOf<Struct>::kFields);
}

}  // namespace gpubound

// clang-format off
#define GPUBOUND_RESCAN(...) GPUBOUND_RESCAN_1(GPUBOUND_RESCAN_1(GPUBOUND_RESCAN_1(GPUBOUND_RESCAN_1(__VA_ARGS__))))
#define GPUBOUND_RESCAN_1(...) GPUBOUND_RESCAN_2(GPUBOUND_RESCAN_2(GPUBOUND_RESCAN_2(GPUBOUND_RESCAN_2(__VA_ARGS__))))
#define GPUBOUND_RESCAN_2(...) GPUBOUND_RESCAN_3(GPUBOUND_RESCAN_3(GPUBOUND_RESCAN_3(GPUBOUND_RESCAN_3(__VA_ARGS__))))
#define GPUBOUND_RESCAN_3(...) __VA_ARGS__
#define GPUBOUND_PARENS ()
#define GPUBOUND_FIELDS(Struct, name, ...) \
  MessageField{#name, &Struct::name} __VA_OPT__(, GPUBOUND_FIELDS_AGAIN GPUBOUND_PARENS (Struct, __VA_ARGS__))
#define GPUBOUND_FIELDS_AGAIN() GPUBOUND_FIELDS
// clang-format on

#define GPUBOUND_PART_OF_MESSAGE(Struct, ...)                              \
  template <>                                                              \
  struct MessageOf<Struct> {                                               \
    static constexpr const char* kName = #Struct;                          \
    static constexpr auto kFields =                                        \
        std::tuple{GPUBOUND_RESCAN(GPUBOUND_FIELDS(Struct, __VA_ARGS__))}; \
  };

#define GPUBOUND_MESSAGE(Struct, ...)                                                            \
  GPUBOUND_PART_OF_MESSAGE(Struct, __VA_ARGS__)                                                  \
  static_assert(FieldCount<Struct>() == std::tuple_size_v<decltype(MessageOf<Struct>::kFields)>, \
                #Struct " has other fields than its message");

#endif  // GPUBOUND_ANALYSIS_PARTS_MESSAGE_FIELDS_H_
