// SPDX-License-Identifier: Apache-2.0
//
// Protobuf messages of structs whose fields message_fields.h lists: what has the value that it has in
// a new object is left out, and what a reader does not know is passed over. Bytes that are no such
// message, and numbers that no value of an enum has, end in MessageError.
#ifndef GPUBOUND_ANALYSIS_PARTS_MESSAGE_CODEC_H_
#define GPUBOUND_ANALYSIS_PARTS_MESSAGE_CODEC_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/parts/message_fields.h"

namespace gpubound {

struct MessageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// How many values an enum has, from 0.
template <typename Enum>
struct EnumSize;

// A pair and an entry of a map are messages of two fields, a list in a list is one of one.
template <typename First, typename Second>
struct MessageOf<std::pair<First, Second>> {
  using Pair = std::pair<First, Second>;
  static constexpr const char* kName = "";  // by the types of the two
  static constexpr auto kFields =
      std::tuple{MessageField{"first", &Pair::first}, MessageField{"second", &Pair::second}};
};

template <typename Struct>
std::string EncodeMessage(const Struct& value);
template <typename Struct>
void DecodeMessage(std::string_view bytes, Struct* value);

// What a field of some type is in a message. Get() is for a field of the wire type kWireType alone.
template <typename Type>
struct FieldCodec;

template <typename Type>
  requires std::integral<Type> || std::is_enum_v<Type>
struct FieldCodec<Type> {
  static constexpr auto kWireType = protozero::pbf_wire_type::varint;
  static constexpr bool kIsSigned = std::is_signed_v<Type>;
  static void Put(int number, Type value, protozero::pbf_writer* writer) {
    const auto tag = static_cast<protozero::pbf_tag_type>(number);
    if constexpr (kIsSigned) {
      writer->add_sint64(tag, value);
    } else {
      writer->add_uint64(tag, static_cast<uint64_t>(value));
    }
  }
  static void Get(protozero::pbf_reader* reader, Type* value) {
    if constexpr (std::is_enum_v<Type>) {
      const uint64_t number = reader->get_uint64();
      if (number >= EnumSize<Type>::kValue) throw MessageError("a value that no enum has");
      *value = static_cast<Type>(number);
    } else if constexpr (kIsSigned) {
      *value = static_cast<Type>(reader->get_sint64());
    } else {
      *value = static_cast<Type>(reader->get_uint64());
    }
  }
};

template <>
struct FieldCodec<double> {
  static constexpr auto kWireType = protozero::pbf_wire_type::fixed64;
  static void Put(int number, double value, protozero::pbf_writer* writer) {
    writer->add_double(static_cast<protozero::pbf_tag_type>(number), value);
  }
  static void Get(protozero::pbf_reader* reader, double* value) { *value = reader->get_double(); }
};

template <>
struct FieldCodec<std::string> {
  static constexpr auto kWireType = protozero::pbf_wire_type::length_delimited;
  static void Put(int number, const std::string& value, protozero::pbf_writer* writer) {
    writer->add_bytes(static_cast<protozero::pbf_tag_type>(number), value);
  }
  static void Get(protozero::pbf_reader* reader, std::string* value) {
    *value = reader->get_bytes();
  }
};

template <IsMessage Struct>
struct FieldCodec<Struct> {
  static constexpr auto kWireType = protozero::pbf_wire_type::length_delimited;
  static void Put(int number, const Struct& value, protozero::pbf_writer* writer) {
    writer->add_message(static_cast<protozero::pbf_tag_type>(number), EncodeMessage(value));
  }
  static void Get(protozero::pbf_reader* reader, Struct* value) {
    const protozero::data_view bytes = reader->get_view();
    DecodeMessage({bytes.data(), bytes.size()}, value);
  }
};

template <typename Value>
struct FieldCodec<std::optional<Value>> {
  static constexpr auto kWireType = FieldCodec<Value>::kWireType;
  static void Put(int number, const std::optional<Value>& value, protozero::pbf_writer* writer) {
    if (value) FieldCodec<Value>::Put(number, *value, writer);
  }
  static void Get(protozero::pbf_reader* reader, std::optional<Value>* value) {
    FieldCodec<Value>::Get(reader, &value->emplace());
  }
};

// Numbers are packed.
template <typename Number>
  requires std::integral<Number>
struct FieldCodec<std::vector<Number>> {
  static constexpr auto kWireType = protozero::pbf_wire_type::length_delimited;
  static void Put(int number, const std::vector<Number>& values, protozero::pbf_writer* writer) {
    const auto tag = static_cast<protozero::pbf_tag_type>(number);
    if constexpr (std::is_signed_v<Number>) {
      writer->add_packed_sint64(tag, values.begin(), values.end());
    } else {
      writer->add_packed_uint64(tag, values.begin(), values.end());
    }
  }
  static void Get(protozero::pbf_reader* reader, std::vector<Number>* values) {
    const auto append = [values](const auto& range) {
      for (const auto value : range) values->push_back(static_cast<Number>(value));
    };
    if constexpr (std::is_signed_v<Number>) {
      append(reader->get_packed_sint64());
    } else {
      append(reader->get_packed_uint64());
    }
  }
};

template <typename Number>
struct NumberList {
  std::vector<Number> values;
};
template <typename Number>
struct MessageOf<NumberList<Number>> {
  static constexpr const char* kName = "";
  static constexpr auto kFields = std::tuple{MessageField{"values", &NumberList<Number>::values}};
};

// Everything else is repeated.
template <typename Element>
  requires(!std::integral<Element>)
struct FieldCodec<std::vector<Element>> {
  static constexpr auto kWireType = FieldCodec<Element>::kWireType;
  static void Put(int number, const std::vector<Element>& values, protozero::pbf_writer* writer) {
    for (const Element& value : values) FieldCodec<Element>::Put(number, value, writer);
  }
  static void Get(protozero::pbf_reader* reader, std::vector<Element>* values) {
    FieldCodec<Element>::Get(reader, &values->emplace_back());
  }
};
template <typename Number>
  requires std::integral<Number>
struct FieldCodec<std::vector<std::vector<Number>>> {
  static constexpr auto kWireType = protozero::pbf_wire_type::length_delimited;
  static void Put(int number, const std::vector<std::vector<Number>>& lists,
                  protozero::pbf_writer* writer) {
    for (const std::vector<Number>& list : lists) {
      FieldCodec<NumberList<Number>>::Put(number, {list}, writer);
    }
  }
  static void Get(protozero::pbf_reader* reader, std::vector<std::vector<Number>>* lists) {
    NumberList<Number> list;
    FieldCodec<NumberList<Number>>::Get(reader, &list);
    lists->push_back(std::move(list.values));
  }
};

template <typename Key, typename Value>
struct FieldCodec<std::map<Key, Value>> {
  static constexpr auto kWireType = protozero::pbf_wire_type::length_delimited;
  using Entry = std::pair<Key, Value>;
  static void Put(int number, const std::map<Key, Value>& values, protozero::pbf_writer* writer) {
    for (const auto& [key, value] : values) FieldCodec<Entry>::Put(number, {key, value}, writer);
  }
  static void Get(protozero::pbf_reader* reader, std::map<Key, Value>* values) {
    Entry entry;
    FieldCodec<Entry>::Get(reader, &entry);
    values->insert_or_assign(std::move(entry.first), std::move(entry.second));
  }
};

template <typename Value>
struct FieldCodec<std::set<Value>> {
  static constexpr auto kWireType = FieldCodec<Value>::kWireType;
  static void Put(int number, const std::set<Value>& values, protozero::pbf_writer* writer) {
    for (const Value& value : values) FieldCodec<Value>::Put(number, value, writer);
  }
  static void Get(protozero::pbf_reader* reader, std::set<Value>* values) {
    Value value;
    FieldCodec<Value>::Get(reader, &value);
    values->insert(std::move(value));
  }
};

template <typename Struct>
std::string EncodeMessage(const Struct& value) {
  static const Struct unset{};
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  ForEachField<Struct>([&](int number, const auto& field) {
    const auto& member = value.*field.member;
    using Type = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_arithmetic_v<Type> || std::is_enum_v<Type> ||
                  std::is_same_v<Type, std::string>) {
      if (member == unset.*field.member) return;
    }
    FieldCodec<Type>::Put(number, member, &writer);
  });
  return bytes;
}

template <typename Struct>
void DecodeMessage(std::string_view bytes, Struct* value) {
  protozero::pbf_reader reader(protozero::data_view(bytes.data(), bytes.size()));
  while (reader.next()) {
    bool known = false;
    ForEachField<Struct>([&](int number, const auto& field) {
      if (known || static_cast<int>(reader.tag()) != number) return;
      known = true;
      auto& member = value->*field.member;
      using Codec = FieldCodec<std::remove_cvref_t<decltype(member)>>;
      if (!reader.has_wire_type(Codec::kWireType)) throw MessageError("a field of another type");
      Codec::Get(&reader, &member);
    });
    if (!known) reader.skip();
  }
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PARTS_MESSAGE_CODEC_H_
