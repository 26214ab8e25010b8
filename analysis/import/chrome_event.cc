// SPDX-License-Identifier: Apache-2.0
//
// The only file that knows simdjson. Fields are taken as they come, so an event is passed over
// once. What is not wanted has to have the structure of JSON all the same: an event that lost its
// end goes on in the next ones, which are not to be lost with it. A word is a value, whatever it
// says: profilers put NaN there.
#include "analysis/import/chrome_event.h"

#include <simdjson.h>

#include <algorithm>

#include "analysis/base/utf8.h"
#include "analysis/base/whole_number.h"
#include "analysis/import/import_splitter.h"

namespace gpubound {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(JsonSplitter::kPadding >= simdjson::SIMDJSON_PADDING);

// Of what is not wanted; as deep as simdjson reads by itself.
constexpr size_t kDeepest = simdjson::DEFAULT_MAX_DEPTH;

struct CategoryName {
  std::string_view name;
  ChromeCategory category;
};
constexpr CategoryName kCategories[] = {
    {"cpu_op", ChromeCategory::kCpuOp},
    {"python_function", ChromeCategory::kPythonFunction},
    {"kernel", ChromeCategory::kKernel},
    {"gpu_memcpy", ChromeCategory::kMemcpy},
    {"gpu_memset", ChromeCategory::kMemset},
    {"user_annotation", ChromeCategory::kUserAnnotation},
    {"gpu_unknown", ChromeCategory::kUnknown},
    // As PyTorch 1.8 to 1.12 wrote them.
    {"Operator", ChromeCategory::kCpuOp},
    {"Kernel", ChromeCategory::kKernel},
    {"Memcpy", ChromeCategory::kMemcpy},
    {"Memset", ChromeCategory::kMemset},
    {"Runtime", ChromeCategory::kApi},
};

ChromeCategory CategoryOf(std::string_view name) {
  const auto* found = std::find_if(std::begin(kCategories), std::end(kCategories),
                                   [name](const CategoryName& c) { return c.name == name; });
  if (found != std::end(kCategories)) return found->category;
  // Every accelerator has its own: cuda_runtime, hip_runtime, xpu_driver, privateuse1_runtime, ...
  const bool calls = name.ends_with("_runtime") || name.ends_with("_driver");
  return calls ? ChromeCategory::kApi : ChromeCategory::kOther;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// A number, true or null as it is written; empty for anything else.
std::string_view ScalarText(ondemand::value value) {
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS || type != ondemand::json_type::number) {
    return {};
  }
  return Trim(value.raw_json_token());
}

// A string whose escapes mean nothing ("C:\Users\me") is what stands there.
std::string_view StringText(ondemand::value value) {
  const std::string_view written = Trim(value.raw_json_token());
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) return text;
  return written.starts_with('"') ? written.substr(1, written.size() - 2) : std::string_view();
}

// |text| with what JSON does not allow in strings as JSON has it: control characters as escapes,
// and U+FFFD for what is not UTF-8.
std::string Mended(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string scratch;
  std::string mended;
  bool in_string = false;
  bool escaped = false;
  for (const char c : ValidUtf8(text, &scratch)) {
    const auto byte = static_cast<uint8_t>(c);
    if (in_string && byte < ' ') {
      mended += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      mended += c;
    }
    if (c == '"' && !escaped) in_string = !in_string;
    escaped = in_string && c == '\\' && !escaped;
  }
  return mended;
}

// A number as it is written or the text of a string, by which processes and threads are called. 1.0
// is 1: some tools have reals only.
std::string_view KeyText(ondemand::value value) {
  const std::string_view number = ScalarText(value);
  const size_t point = number.find('.');
  const bool is_whole = point != std::string_view::npos && point > 0 &&
                        number.find_first_not_of('0', point + 1) == std::string_view::npos;
  if (is_whole) return number.substr(0, point);
  return number.empty() ? StringText(value) : number;
}

// The key as it is written, without its quotes. The keys that are looked for have no escapes.
std::string_view KeyOf(ondemand::raw_json_string key) {
  const char* const begin = key.raw();
  const char* end = begin;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {begin, static_cast<size_t>(end - begin)};
}

// Calls |each|(key, value) for every member of |object|.
template <typename Each>
simdjson::error_code ForEachMember(ondemand::object object, const Each& each) {
  for (auto field : object) {
    ondemand::raw_json_string key;
    if (const auto error = field.key().get(key)) return error;
    ondemand::value value;
    if (const auto error = field.value().get(value)) return error;
    if (const auto error = each(KeyOf(key), value)) return error;
  }
  return simdjson::SUCCESS;
}

// Whether an event begins with |token|, of a value: in a list within another event it is no value
// but one that follows, seen through lost brackets.
bool BeginsEvent(std::string_view token) {
  return token.front() == '{' &&
         std::string_view(token.data() + token.size(), JsonSplitter::kFirstMember.size()) ==
             JsonSplitter::kFirstMember;
}

// Passes over |value|, which lies |depth| levels within one that is not wanted.
simdjson::error_code Skip(ondemand::value value, size_t depth) {
  switch (value.raw_json_token().front()) {
    case ',':
    case ':':
    case ']':
    case '}':
      return simdjson::TAPE_ERROR;
    case '{': {
      if (depth == kDeepest) return simdjson::DEPTH_ERROR;
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      return ForEachMember(object, [depth](std::string_view /*key*/, ondemand::value member) {
        return Skip(member, depth + 1);
      });
    }
    case '[': {
      if (depth == kDeepest) return simdjson::DEPTH_ERROR;
      ondemand::array array;
      if (const auto error = value.get_array().get(array)) return error;
      for (auto element : array) {
        ondemand::value item;
        if (const auto error = element.get(item)) return error;
        if (BeginsEvent(item.raw_json_token())) return simdjson::TAPE_ERROR;
        if (const auto error = Skip(item, depth + 1)) return error;
      }
      return simdjson::SUCCESS;
    }
    default:
      return simdjson::SUCCESS;
  }
}

simdjson::error_code ReadExtent(ondemand::value value, uint32_t (&extent)[3]) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return Skip(value, 0);
  size_t axis = 0;
  for (auto element : array) {
    ondemand::value number;
    if (const auto error = element.get(number)) return error;
    if (axis < 3) extent[axis++] = ClampedU32(ParseInt(ScalarText(number)));
    if (const auto error = Skip(number, 1)) return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code ReadArgument(std::string_view key, ondemand::value value, ChromeEvent* event) {
  struct Number {
    std::string_view key;
    std::optional<int64_t> ChromeEvent::*member;
  };
  static constexpr Number kNumbers[] = {
      {"correlation", &ChromeEvent::correlation},
      {"device", &ChromeEvent::device},
      {"context", &ChromeEvent::context},
      {"stream", &ChromeEvent::stream},
      {"fromDevice", &ChromeEvent::from_device},
      {"fromContext", &ChromeEvent::from_context},
      {"toDevice", &ChromeEvent::to_device},
      {"toContext", &ChromeEvent::to_context},
      {"inDevice", &ChromeEvent::in_device},
      {"inContext", &ChromeEvent::in_context},
      {"bytes", &ChromeEvent::bytes},
      {"registers per thread", &ChromeEvent::registers},
      {"shared memory", &ChromeEvent::shared_bytes},
      {"whole graph", &ChromeEvent::whole_graph},
      {"graph id", &ChromeEvent::graph},
      {"graph node id", &ChromeEvent::graph_node},
  };
  const auto* found = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                   [key](const Number& number) { return number.key == key; });
  if (found != std::end(kNumbers)) {
    event->*(found->member) = ParseInt(KeyText(value));  // some tools write numbers as strings
  } else if (key == "grid") {
    return ReadExtent(value, event->grid);
  } else if (key == "block") {
    return ReadExtent(value, event->block);
  } else if (key == "name") {
    event->label = StringText(value);
  } else if (key == "owner pid") {
    event->owner = KeyText(value);
  }
  event->on_stream = event->on_stream || key == "stream" || key == "Stream Id";
  return Skip(value, 0);
}

// Goes over |value|; its text where it is an array, else nothing.
simdjson::error_code ReadArray(ondemand::value value, std::string_view* text) {
  const char* const begin = value.raw_json_token().data();
  if (const auto error = Skip(value, 0)) return error;
  int depth = 0;
  bool quoted = false;
  for (const char* at = begin; *begin == '['; ++at) {
    if (quoted && *at == '\\') {
      ++at;
    } else if (*at == '"') {
      quoted = !quoted;
    } else if (!quoted && *at == '[') {
      ++depth;
    } else if (!quoted && *at == ']' && --depth == 0) {
      *text = std::string_view(begin, static_cast<size_t>(at + 1 - begin));
      break;
    }
  }
  return simdjson::SUCCESS;
}

// Operators are many, and of their arguments little is wanted.
simdjson::error_code ReadOpArgument(std::string_view key, ondemand::value value,
                                    ChromeEvent* event) {
  if (key == "Input Dims") return ReadArray(value, &event->inputs.dims);
  if (key == "Input type") return ReadArray(value, &event->inputs.types);
  if (key == "Concrete Inputs") return ReadArray(value, &event->inputs.values);
  return Skip(value, 0);
}

bool HasArguments(const ChromeEvent& event) {
  switch (event.category) {
    case ChromeCategory::kPythonFunction:
    case ChromeCategory::kUserAnnotation:
      return false;  // theirs are many, and none is wanted
    default:
      return true;
  }
}

simdjson::error_code ReadMember(std::string_view key, ondemand::value value, ChromeEvent* event) {
  if (key == "name") {
    event->name = StringText(value);
  } else if (key == "ph") {
    const std::string_view phase = StringText(value);
    event->phase = phase.empty() ? '\0' : phase.front();
  } else if (key == "cat") {
    const std::string_view category = StringText(value);
    event->category = CategoryOf(category);
    if (event->category == ChromeCategory::kOther) event->other_category = category;
  } else if (key == "ts") {
    event->ts = ScalarText(value);
  } else if (key == "dur") {
    event->dur = ScalarText(value);
  } else if (key == "pid") {
    event->pid = KeyText(value);
  } else if (key == "tid") {
    event->tid = KeyText(value);
  } else if (key == "args" && HasArguments(*event)) {
    ondemand::object arguments;
    if (value.get_object().get(arguments) != simdjson::SUCCESS) return Skip(value, 0);
    const bool is_op = event->category == ChromeCategory::kCpuOp;
    return ForEachMember(arguments, [event, is_op](std::string_view name,
                                                   ondemand::value argument) {
      return is_op ? ReadOpArgument(name, argument, event) : ReadArgument(name, argument, event);
    });
  }
  return Skip(value, 0);
}

void ReadDeviceMember(std::string_view key, ondemand::value value, Device* device,
                      uint32_t* threads) {
  if (key == "name") {
    device->name = std::string(StringText(value));
    return;
  }
  const std::optional<int64_t> number = ParseInt(ScalarText(value));
  DeviceInfo& info = device->info;
  if (key == "id") info.index = ClampedU32(number);
  if (key == "numSms") info.multiprocessors = ClampedU32(number);
  if (key == "warpSize" && number.value_or(0) > 0) info.threads_per_warp = ClampedU32(number);
  if (key == "maxThreadsPerMultiprocessor") *threads = ClampedU32(number);
  if (key == "regsPerMultiprocessor") info.max_registers_per_multiprocessor = ClampedU32(number);
  if (key == "sharedMemPerMultiprocessor" || key == "maxSharedMemoryPerMultiProcessor") {
    info.max_shared_bytes_per_multiprocessor = ClampedU32(number);
  }
  if (key == "computeMajor") info.compute_capability_major = ClampedU32(number);
  if (key == "computeMinor") info.compute_capability_minor = ClampedU32(number);
  if (key == "totalGlobalMem") {
    info.memory_bytes = static_cast<uint64_t>(std::max<int64_t>(number.value_or(0), 0));
  }
}

}  // namespace

class ChromeParser::Impl {
 public:
  std::optional<std::string> Parse(std::string_view text, ChromeEvent* event) {
    simdjson::error_code error = ParseOnce(text, event);
    if (error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS) {
      mended_ = Mended(text);
      const size_t size = mended_.size();
      mended_.append(JsonSplitter::kPadding, ' ');
      error = ParseOnce(std::string_view(mended_).substr(0, size), event);
    }
    if (error) return std::string(simdjson::error_message(error));
    return std::nullopt;
  }

  std::vector<Device> ParseDevices(std::string_view text) {
    std::vector<Device> devices;
    ondemand::array array;
    if (Begin(text) != simdjson::SUCCESS) return devices;
    if (document_.get_array().get(array) != simdjson::SUCCESS) return devices;
    for (auto element : array) {
      ondemand::object object;
      if (element.get_object().get(object) != simdjson::SUCCESS) break;
      Device device;
      uint32_t threads = 0;
      const auto error = ForEachMember(object, [&](std::string_view key, ondemand::value value) {
        ReadDeviceMember(key, value, &device, &threads);
        return simdjson::SUCCESS;
      });
      if (error) break;
      device.info.max_warps_per_multiprocessor = threads / device.info.threads_per_warp;
      devices.push_back(std::move(device));
    }
    return devices;
  }

 private:
  simdjson::error_code ParseOnce(std::string_view text, ChromeEvent* event) {
    *event = ChromeEvent();
    ondemand::object object;
    if (const auto error = Begin(text)) return error;
    if (const auto error = document_.get_object().get(object)) return error;
    return ForEachMember(object, [event](std::string_view key, ondemand::value value) {
      return ReadMember(key, value, event);
    });
  }

  simdjson::error_code Begin(std::string_view text) {
    const simdjson::padded_string_view padded(text.data(), text.size(),
                                              text.size() + JsonSplitter::kPadding);
    return parser_.iterate(padded).get(document_);
  }

  ondemand::parser parser_;
  ondemand::document document_;
  std::string mended_;  // the event that refers to it
};

ChromeParser::ChromeParser() : impl_(std::make_unique<Impl>()) {}
ChromeParser::~ChromeParser() = default;

std::optional<std::string> ChromeParser::Parse(std::string_view text, ChromeEvent* event) {
  return impl_->Parse(text, event);
}

std::vector<Device> ChromeParser::ParseDevices(std::string_view text) {
  return impl_->ParseDevices(text);
}

}  // namespace gpubound
