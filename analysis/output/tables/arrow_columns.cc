// SPDX-License-Identifier: Apache-2.0
//
// Columns of the Arrow C data interface. No state.
#include "analysis/output/tables/arrow_columns.h"

#include <utility>

#include "analysis/base/utf8.h"

namespace gpubound {
namespace {

// What an exported array points to. A holder of a struct may take its children out of it: their
// release is null then.
struct ArrayOwner {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<int32_t> numbers;
  std::vector<uint8_t> valid;
  std::shared_ptr<const ArrowTexts> texts;
  std::vector<ArrowArray> own_children;
  std::vector<ArrowArray*> children;
  std::optional<ArrowArray> dictionary;
  std::array<const void*, 3> buffers{};
};

struct SchemaOwner {
  std::string name;
  std::vector<ArrowSchema> own_children;
  std::vector<ArrowSchema*> children;
  std::optional<ArrowSchema> dictionary;
};

template <typename Structure, typename Owner>
void Release(Structure* structure) {
  auto* const owner = static_cast<Owner*>(structure->owner);
  for (Structure& child : owner->own_children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (owner->dictionary && owner->dictionary->release != nullptr) {
    owner->dictionary->release(&*owner->dictionary);
  }
  delete owner;
  structure->release = nullptr;
}

void Give(std::unique_ptr<ArrayOwner> owner, size_t length, int64_t nulls, int64_t buffers,
          ArrowArray* out) {
  *out = {};
  owner->buffers[0] = owner->valid.empty() ? nullptr : owner->valid.data();
  for (ArrowArray& child : owner->own_children) owner->children.push_back(&child);
  out->length = static_cast<int64_t>(length);
  out->null_count = nulls;
  out->buffer_count = buffers;
  out->buffers = owner->buffers.data();
  out->child_count = static_cast<int64_t>(owner->children.size());
  out->children = owner->children.data();
  out->dictionary = owner->dictionary ? &*owner->dictionary : nullptr;
  out->release = &Release<ArrowArray, ArrayOwner>;
  out->owner = owner.release();
}

void GiveTexts(std::shared_ptr<const ArrowTexts> texts, std::vector<uint8_t> valid, size_t length,
               int64_t nulls, ArrowArray* out) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->valid = std::move(valid);
  owner->texts = std::move(texts);
  owner->buffers[1] = owner->texts->offsets();
  owner->buffers[2] = owner->texts->bytes();
  Give(std::move(owner), length, nulls, 3, out);
}

constexpr char kTextFormat[] = "U";  // UTF-8 with 64-bit offsets

const char* FormatOf(const ArrowColumn& column) {
  switch (column.type) {
    case ColumnType::kInteger:
      return "l";
    case ColumnType::kReal:
      return "g";
    case ColumnType::kText:
      break;
  }
  return column.dictionary ? "i" : kTextFormat;
}

ArrowSchema SchemaOf(const char* format, const std::string& name, int64_t flags,
                     std::unique_ptr<SchemaOwner> owner) {
  owner->name = name;
  for (ArrowSchema& child : owner->own_children) owner->children.push_back(&child);
  ArrowSchema schema{};
  schema.format = format;
  schema.name = owner->name.c_str();
  schema.flags = flags;
  schema.child_count = static_cast<int64_t>(owner->children.size());
  schema.children = owner->children.data();
  schema.dictionary = owner->dictionary ? &*owner->dictionary : nullptr;
  schema.release = &Release<ArrowSchema, SchemaOwner>;
  schema.owner = owner.release();
  return schema;
}

}  // namespace

void ArrowTexts::Add(std::string_view text) {
  std::string scratch;
  bytes_.append(ValidUtf8(text, &scratch));
  offsets_.push_back(static_cast<int64_t>(bytes_.size()));
}

void ColumnBuilder::Reserve(size_t rows) {
  if (column_.type == ColumnType::kInteger) integers_.reserve(rows);
  if (column_.type == ColumnType::kReal) reals_.reserve(rows);
  if (column_.dictionary) numbers_.reserve(rows);
}

void ColumnBuilder::AddNull() {
  if (valid_.empty()) valid_.assign(size_ / 8 + 1, 0xff);
  valid_.resize(size_ / 8 + 1, 0xff);
  valid_[size_ / 8] &= static_cast<uint8_t>(~(1U << size_ % 8));
  ++nulls_;
}

void ColumnBuilder::Add(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) AddNull();
  if (!valid_.empty()) valid_.resize(size_ / 8 + 1, 0xff);
  ++size_;
  switch (column_.type) {
    case ColumnType::kInteger: {
      const auto* integer = std::get_if<int64_t>(&cell);
      integers_.push_back(integer != nullptr ? *integer : 0);
      return;
    }
    case ColumnType::kReal: {
      const auto* real = std::get_if<double>(&cell);
      reals_.push_back(real != nullptr ? *real : 0);
      return;
    }
    case ColumnType::kText: {
      const auto* text = std::get_if<std::string_view>(&cell);
      if (!column_.dictionary) {
        texts_->Add(text != nullptr ? *text : std::string_view());
      } else {
        numbers_.push_back(text != nullptr ? NumberOf(*text) : 0);
      }
      return;
    }
  }
}

int32_t ColumnBuilder::NumberOf(std::string_view text) {
  Lately& lately = lately_[reinterpret_cast<uintptr_t>(text.data()) / 16 % lately_.size()];
  if (lately.at == text.data() && lately.at != nullptr &&
      texts_->At(static_cast<size_t>(lately.number)) == text) {
    return lately.number;
  }
  std::string scratch;
  const auto [found, is_new] = by_text_.try_emplace(std::string(ValidUtf8(text, &scratch)),
                                                    static_cast<int32_t>(by_text_.size()));
  if (is_new) {
    // Arrays that were given away keep the dictionary that they came with.
    if (texts_.use_count() > 1) texts_ = std::make_shared<ArrowTexts>(*texts_);
    texts_->Add(found->first);
  }
  lately = {text.data(), found->second};
  return found->second;
}

Cell ColumnBuilder::At(size_t row) const {
  if (!valid_.empty() && (valid_[row / 8] >> row % 8 & 1) == 0) return {};
  switch (column_.type) {
    case ColumnType::kInteger:
      return integers_[row];
    case ColumnType::kReal:
      return reals_[row];
    case ColumnType::kText:
      break;
  }
  return texts_->At(column_.dictionary ? static_cast<size_t>(numbers_[row]) : row);
}

void ColumnBuilder::Give(ArrowArray* out) {
  const size_t length = std::exchange(size_, 0);
  const int64_t nulls = std::exchange(nulls_, 0);
  std::vector<uint8_t> valid = std::exchange(valid_, {});
  if (column_.type == ColumnType::kText && !column_.dictionary) {
    GiveTexts(std::exchange(texts_, std::make_shared<ArrowTexts>()), std::move(valid), length,
              nulls, out);
    return;
  }
  auto owner = std::make_unique<ArrayOwner>();
  owner->valid = std::move(valid);
  owner->integers = std::exchange(integers_, {});
  owner->reals = std::exchange(reals_, {});
  owner->numbers = std::exchange(numbers_, {});
  owner->buffers[1] = column_.type == ColumnType::kInteger ? owner->integers.data()
                      : column_.type == ColumnType::kReal
                          ? static_cast<const void*>(owner->reals.data())
                          : owner->numbers.data();
  if (column_.dictionary) {
    if (texts_->size() == 0) NumberOf("");  // what rows without a value point to
    GiveTexts(texts_, {}, texts_->size(), 0, &owner->dictionary.emplace());
  }
  gpubound::Give(std::move(owner), length, nulls, 2, out);
}

void GiveSchema(const std::vector<ArrowColumn>& columns, ArrowSchema* out) {
  auto whole = std::make_unique<SchemaOwner>();
  for (const ArrowColumn& column : columns) {
    auto owner = std::make_unique<SchemaOwner>();
    if (column.dictionary) {
      owner->dictionary = SchemaOf(kTextFormat, "", 0, std::make_unique<SchemaOwner>());
    }
    whole->own_children.push_back(
        SchemaOf(FormatOf(column), column.name, kArrowNullable, std::move(owner)));
  }
  *out = SchemaOf("+s", "", 0, std::move(whole));
}

void GiveRows(std::span<ColumnBuilder> columns, ArrowArray* out) {
  auto whole = std::make_unique<ArrayOwner>();
  const size_t rows = columns.empty() ? 0 : columns.front().size();
  for (ColumnBuilder& column : columns) column.Give(&whole->own_children.emplace_back());
  Give(std::move(whole), rows, 0, 1, out);
}

}  // namespace gpubound
