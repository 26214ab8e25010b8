// SPDX-License-Identifier: Apache-2.0
#include "libprofiler/batching_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "libprofiler/high_descriptor.h"

namespace gpubound {
namespace {

// SQLite's VFS for Unix takes a size modulo 128 KiB; longer runs gain little.
constexpr int kBufferBytes = 120 << 10;

// A frame of the log: a header, then a page. https://www.sqlite.org/fileformat2.html#walformat
constexpr int kFrameHeaderBytes = 24;

// Of a frame that commits the header holds the size of the database, of others zero.
bool Commits(const void* frame_header) {
  uint32_t pages_after_commit;
  std::memcpy(&pages_after_commit, static_cast<const std::byte*>(frame_header) + 4,
              sizeof(pages_after_commit));
  return pages_after_commit != 0;
}

// As SQLite allocates it: this, and behind it the file of the VFS below.
struct BatchingFile : sqlite3_file {
  sqlite3_file* below = nullptr;
  BatchingFile* log = nullptr;       // of a database: its open log
  BatchingFile* database = nullptr;  // of a log
  std::byte* buffer = nullptr;       // kBufferBytes, or null: nothing is gathered
  sqlite3_int64 begin = 0;           // of what the buffer holds of the file
  int size = 0;
  bool unwritten = false;       // the buffer is to be written, else it has been read or written
  bool in_checkpoint = false;   // of a database
  bool commits = false;         // of a log: the next page ends a transaction
  sqlite3_int64 next_read = 0;  // of a log: where one that reads its frames in order goes on
  int error = SQLITE_OK;        // of a write that SQLite believes done; latches

  sqlite3_int64 end() const { return begin + size; }
  bool gathers() const { return buffer != nullptr && (database != nullptr || in_checkpoint); }
};

BatchingFile* Of(sqlite3_file* file) { return static_cast<BatchingFile*>(file); }

int Flush(BatchingFile* file) {
  if (!file->unwritten) return file->error;
  file->unwritten = false;
  if (file->error == SQLITE_OK) {
    file->error = file->below->pMethods->xWrite(file->below, file->buffer, file->size, file->begin);
  }
  return file->error;
}

// What is in the buffer is no longer what is in the file.
int FlushAndForget(BatchingFile* file) {
  const int result = Flush(file);
  file->size = 0;
  return result;
}

// What is unwritten now belongs to a transaction that never ended. It is left out: in a child of
// fork it would be written over what the parent has written since.
int Close(sqlite3_file* base) {
  BatchingFile* file = Of(base);
  if (file->database != nullptr) file->database->log = nullptr;
  if (file->log != nullptr) file->log->database = nullptr;
  sqlite3_free(file->buffer);
  return file->below->pMethods->xClose(file->below);
}

int Write(sqlite3_file* base, const void* bytes, int size, sqlite3_int64 at) {
  BatchingFile* file = Of(base);
  if (!file->gathers() || size > kBufferBytes) {
    const int flushed = FlushAndForget(file);
    return flushed != SQLITE_OK ? flushed
                                : file->below->pMethods->xWrite(file->below, bytes, size, at);
  }
  if (!file->unwritten || at != file->end() || file->size + size > kBufferBytes) {
    if (const int flushed = FlushAndForget(file); flushed != SQLITE_OK) return flushed;
    file->begin = at;
  }
  std::memcpy(file->buffer + file->size, bytes, static_cast<size_t>(size));
  file->size += size;
  file->unwritten = true;
  if (file->database == nullptr) return SQLITE_OK;
  const bool ends_transaction = file->commits;
  file->commits = size == kFrameHeaderBytes && Commits(bytes);
  return ends_transaction ? Flush(file) : SQLITE_OK;
}

// Fills the buffer of a log from |at| on. False when there is nothing to read or it fails.
bool ReadAhead(BatchingFile* file, sqlite3_int64 at) {
  sqlite3_int64 file_size = 0;
  file->size = 0;
  if (file->below->pMethods->xFileSize(file->below, &file_size) != SQLITE_OK || file_size <= at) {
    return false;
  }
  const int size = static_cast<int>(std::min<sqlite3_int64>(kBufferBytes, file_size - at));
  if (file->below->pMethods->xRead(file->below, file->buffer, size, at) != SQLITE_OK) return false;
  file->begin = at;
  file->size = size;
  return true;
}

int Read(sqlite3_file* base, void* bytes, int size, sqlite3_int64 at) {
  BatchingFile* file = Of(base);
  if (const int flushed = Flush(file); flushed != SQLITE_OK) return flushed;
  const bool is_log = file->database != nullptr && file->buffer != nullptr;
  const auto in_buffer = [&] { return at >= file->begin && at + size <= file->end(); };
  const bool in_order = at == file->next_read;
  file->next_read = at + size + kFrameHeaderBytes;
  if (is_log && !in_buffer() && in_order) ReadAhead(file, at);
  if (is_log && in_buffer()) {
    std::memcpy(bytes, file->buffer + (at - file->begin), static_cast<size_t>(size));
    return SQLITE_OK;
  }
  return file->below->pMethods->xRead(file->below, bytes, size, at);
}

int Truncate(sqlite3_file* base, sqlite3_int64 size) {
  BatchingFile* file = Of(base);
  const int flushed = FlushAndForget(file);
  return flushed != SQLITE_OK ? flushed : file->below->pMethods->xTruncate(file->below, size);
}

int Sync(sqlite3_file* base, int flags) {
  BatchingFile* file = Of(base);
  const int flushed = Flush(file);
  return flushed != SQLITE_OK ? flushed : file->below->pMethods->xSync(file->below, flags);
}

int FileSize(sqlite3_file* base, sqlite3_int64* size) {
  BatchingFile* file = Of(base);
  const int flushed = Flush(file);
  return flushed != SQLITE_OK ? flushed : file->below->pMethods->xFileSize(file->below, size);
}

int FileControl(sqlite3_file* base, int operation, void* argument) {
  BatchingFile* file = Of(base);
  if (operation == SQLITE_FCNTL_CKPT_START) file->in_checkpoint = true;
  if (operation == SQLITE_FCNTL_CKPT_DONE) {
    // SQLite does not look at what this returns; the error stays for what follows.
    FlushAndForget(file);
    file->in_checkpoint = false;
  }
  return file->below->pMethods->xFileControl(file->below, operation, argument);
}

int Lock(sqlite3_file* base, int level) {
  return Of(base)->below->pMethods->xLock(Of(base)->below, level);
}
int Unlock(sqlite3_file* base, int level) {
  return Of(base)->below->pMethods->xUnlock(Of(base)->below, level);
}
int CheckReservedLock(sqlite3_file* base, int* reserved) {
  return Of(base)->below->pMethods->xCheckReservedLock(Of(base)->below, reserved);
}
int SectorSize(sqlite3_file* base) {
  return Of(base)->below->pMethods->xSectorSize(Of(base)->below);
}
int DeviceCharacteristics(sqlite3_file* base) {
  return Of(base)->below->pMethods->xDeviceCharacteristics(Of(base)->below);
}
int ShmMap(sqlite3_file* base, int region, int size, int extend, void volatile** memory) {
  return Of(base)->below->pMethods->xShmMap(Of(base)->below, region, size, extend, memory);
}
int ShmLock(sqlite3_file* base, int offset, int count, int flags) {
  return Of(base)->below->pMethods->xShmLock(Of(base)->below, offset, count, flags);
}
int ShmUnmap(sqlite3_file* base, int remove) {
  return Of(base)->below->pMethods->xShmUnmap(Of(base)->below, remove);
}

// SQLite calls it before it shows others what it has appended to the log, also in the rare case in
// which what it writes last is no page: headers of frames that a transaction had written twice.
void ShmBarrier(sqlite3_file* base) {
  BatchingFile* file = Of(base);
  if (file->log != nullptr) Flush(file->log);
  file->below->pMethods->xShmBarrier(file->below);
}

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,  // no memory-mapped pages
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = FileSize,
    .xLock = Lock,
    .xUnlock = Unlock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = FileControl,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = DeviceCharacteristics,
    .xShmMap = ShmMap,
    .xShmLock = ShmLock,
    .xShmBarrier = ShmBarrier,
    .xShmUnmap = ShmUnmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs* g_below = nullptr;  // set once, before the VFS is registered
constinit thread_local NoteOpened* t_note = nullptr;

// It opens a file once while it holds locks on it.
int OpenAndNote(const char* path, int flags, int mode) {
  const int fd = OpenHigh(path, flags, mode);
  if (t_note != nullptr && fd >= 0) t_note->Opened(path, fd);
  return fd;
}

int Open(sqlite3_vfs*, const char* path, sqlite3_file* base, int flags, int* opened_flags) {
  if ((flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0) {
    return g_below->xOpen(g_below, path, base, flags, opened_flags);
  }
  auto* file = new (base) BatchingFile();
  file->pMethods = nullptr;  // SQLite does not close what failed to open
  file->below = reinterpret_cast<sqlite3_file*>(file + 1);
  const int result = g_below->xOpen(g_below, path, file->below, flags, opened_flags);
  if (result != SQLITE_OK) return result;
  file->pMethods = &kMethods;
  file->buffer = static_cast<std::byte*>(sqlite3_malloc(kBufferBytes));
  if ((flags & SQLITE_OPEN_WAL) != 0) {
    file->database = Of(sqlite3_database_file_object(path));
    file->database->log = file;
  }
  return SQLITE_OK;
}

// The recorder has made the file itself, by this name. SQLite's own function follows links with 8 KiB
// of a stack of which the program's thread may have 16 KiB in all.
int FullPathname(sqlite3_vfs*, const char* path, int size, char* full) {
  const size_t bytes = std::strlen(path) + 1;
  if (path[0] != '/') return g_below->xFullPathname(g_below, path, size, full);
  if (bytes > static_cast<size_t>(size)) return SQLITE_CANTOPEN;
  std::memcpy(full, path, bytes);
  return SQLITE_OK;
}

}  // namespace

NoteOpened::NoteOpened(std::string_view prefix, OpenFiles* files) noexcept
    : prefix_(prefix), files_(files) {
  t_note = this;
}

NoteOpened::~NoteOpened() { t_note = nullptr; }

void NoteOpened::Opened(std::string_view path, int fd) noexcept {
  if (path.starts_with(prefix_)) files_->Add(fd);
}

const char* BatchingVfsName() {
  static sqlite3_vfs batching;
  if (batching.zName != nullptr) return batching.zName;
  g_below = sqlite3_vfs_find(nullptr);
  if (g_below == nullptr) return nullptr;
  // This copy of SQLite is ours alone.
  g_below->xSetSystemCall(g_below, "open", reinterpret_cast<sqlite3_syscall_ptr>(&OpenAndNote));
  batching = *g_below;  // its other functions do not depend on which of the two they get
  batching.pNext = nullptr;
  batching.szOsFile += static_cast<int>(sizeof(BatchingFile));
  batching.xOpen = Open;
  batching.xFullPathname = FullPathname;
  batching.zName = "gpubound-batching";
  if (sqlite3_vfs_register(&batching, /*makeDflt=*/0) == SQLITE_OK) return batching.zName;
  batching.zName = nullptr;
  return nullptr;
}

}  // namespace gpubound
