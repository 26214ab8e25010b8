// SPDX-License-Identifier: Apache-2.0
//
// Pieces of two kinds of one process. One object, one thread.
#include <utility>

#include "analysis/output/tables/event_pieces.h"

namespace gpubound {
namespace {

class JoinedPieces : public EventPieces {
 public:
  JoinedPieces(std::unique_ptr<EventPieces> threads, std::unique_ptr<EventPieces> records,
               size_t count)
      : threads_(std::move(threads)), records_(std::move(records)) {
    for (uint32_t thread = 0; thread < count; ++thread) {
      by_thread_.push_back(threads_->OfThread(thread));
    }
    for (size_t family = 0; family < by_family_.size(); ++family) {
      by_family_[family] = records_->OfFamily(static_cast<EventFamily>(family));
    }
  }

  bool Read(const EventPiece& piece, ThreadPiece* events) override {
    return threads_->Read(piece, events);
  }
  bool Read(const EventPiece& piece, std::vector<CallOfTid>* calls) override {
    return records_->Read(piece, calls);
  }
  bool Read(const EventPiece& piece, std::vector<OverheadOfTid>* overheads) override {
    return records_->Read(piece, overheads);
  }
  bool Read(const EventPiece& piece, std::vector<Sync>* syncs) override {
    return records_->Read(piece, syncs);
  }
  bool Read(const EventPiece& piece, std::vector<DeviceWork>* work) override {
    return records_->Read(piece, work);
  }
  bool Read(const EventPiece& piece, std::vector<StackLooks>* looks) override {
    return records_->Read(piece, looks);
  }

  uint64_t pieces_read() const override {
    return threads_->pieces_read() + records_->pieces_read();
  }
  const std::vector<std::string>& problems() const override { return records_->problems(); }

 private:
  std::unique_ptr<EventPieces> threads_;
  std::unique_ptr<EventPieces> records_;
};

}  // namespace

std::unique_ptr<EventPieces> PiecesJoined(std::unique_ptr<EventPieces> threads,
                                          std::unique_ptr<EventPieces> records) {
  const size_t count = threads->threads();
  return std::make_unique<JoinedPieces>(std::move(threads), std::move(records), count);
}

}  // namespace gpubound
