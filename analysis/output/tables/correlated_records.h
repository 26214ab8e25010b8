// SPDX-License-Identifier: Apache-2.0
//
// Records of a process by correlation: what a join of calls with their work asks for, once per row.
// An index says where each record lies, 12 bytes a record; the pieces that were asked for last stay
// decoded, since what is joined mostly lies in the same order on both sides.
//
// Thread rule: one thread at a time.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_CORRELATED_RECORDS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_CORRELATED_RECORDS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "analysis/output/tables/event_pieces.h"

namespace gpubound {

inline uint32_t CorrelationOf(const CallOfTid& record) { return record.call.correlation; }
inline uint32_t CorrelationOf(const OverheadOfTid& record) { return record.overhead.correlation; }
inline uint32_t CorrelationOf(const Sync& record) { return record.correlation; }
inline uint32_t CorrelationOf(const DeviceWork& record) { return record.correlation; }

constexpr EventFamily FamilyOf(const CallOfTid*) { return EventFamily::kApi; }
constexpr EventFamily FamilyOf(const OverheadOfTid*) { return EventFamily::kOverhead; }
constexpr EventFamily FamilyOf(const Sync*) { return EventFamily::kSync; }
constexpr EventFamily FamilyOf(const DeviceWork*) { return EventFamily::kDevice; }

template <typename Record>
class CorrelatedRecords {
 public:
  using Records = std::vector<Record>;
  struct Place {
    uint32_t correlation;
    uint32_t piece;
    uint32_t row;
  };

  // |pieces| outlive this.
  explicit CorrelatedRecords(EventPieces* pieces) : pieces_(*pieces) {}

  // Valid as long as this. The first call reads every piece.
  std::span<const Place> Of(int64_t correlation) {
    if (!indexed_) MakeIndex();
    if (correlation < 0 || correlation > std::numeric_limits<uint32_t>::max()) return {};
    const auto wanted = static_cast<uint32_t>(correlation);
    const auto [first, last] =
        std::equal_range(index_.begin(), index_.end(), Place{wanted, 0, 0}, ByCorrelation);
    return {first, last};
  }

  // Valid as long as |held|, which is replaced. Null where the piece cannot be read any more.
  const Record* At(const Place& place, std::shared_ptr<const Records>* held) {
    *held = Decoded(place.piece);
    return place.row < (*held)->size() ? &(**held)[place.row] : nullptr;
  }

 private:
  static constexpr size_t kDecodedPieces = 8;  // about a megabyte
  struct Piece {
    uint32_t number = 0;
    std::shared_ptr<const Records> records;
  };

  static bool ByCorrelation(const Place& a, const Place& b) {
    return a.correlation < b.correlation;
  }
  const std::vector<EventPiece>& All() const {
    return pieces_.OfFamily(FamilyOf(static_cast<const Record*>(nullptr)));
  }

  void MakeIndex() {
    indexed_ = true;
    Records records;
    for (uint32_t piece = 0; piece < All().size(); ++piece) {
      if (!pieces_.Read(All()[piece], &records)) continue;
      for (uint32_t row = 0; row < records.size(); ++row) {
        index_.push_back({CorrelationOf(records[row]), piece, row});
      }
    }
    std::stable_sort(index_.begin(), index_.end(), ByCorrelation);
  }

  std::shared_ptr<const Records> Decoded(uint32_t number) {
    const auto found = std::find_if(decoded_.begin(), decoded_.end(), [&](const Piece& piece) {
      return piece.records != nullptr && piece.number == number;
    });
    if (found != decoded_.end()) {
      std::rotate(decoded_.begin(), found, found + 1);  // the last used one is in front
      return decoded_.front().records;
    }
    auto records = std::make_shared<Records>();
    if (!pieces_.Read(All()[number], records.get())) records->clear();
    std::rotate(decoded_.begin(), decoded_.end() - 1, decoded_.end());
    decoded_.front() = {number, records};
    return records;
  }

  EventPieces& pieces_;
  bool indexed_ = false;
  std::vector<Place> index_;  // ascending by correlation, then as the pieces have them
  std::array<Piece, kDecodedPieces> decoded_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_CORRELATED_RECORDS_H_
