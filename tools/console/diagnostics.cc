// SPDX-License-Identifier: Apache-2.0
//
// One spdlog logger with two sinks: stderr as users know it, and a file. spdlog is header-only here,
// compiled in this file alone, with the fmt that the rest of the tools has.
#include "tools/console/diagnostics.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/console/console.h"

namespace gpubound {
namespace {

constexpr char kFilePattern[] = "%Y-%m-%dT%H:%M:%S.%e%z %P %l %v";

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// "gpubound: " and the text, in lines that fit the terminal, by one write.
class StderrSink : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string text(message.payload.data(), message.payload.size());
    const std::string shown = message.level == spdlog::level::debug ? "debug: " + text : text;
    WriteStderr(MessageText(shown, FactsOf(STDERR_FILENO), EnvironmentVariable));
  }
  void flush_() override {}
};

struct Diagnostics {
  std::shared_ptr<StderrSink> to_stderr = std::make_shared<StderrSink>();
  spdlog::logger logger{"gpubound", to_stderr};

  Diagnostics() {
    to_stderr->set_level(spdlog::level::info);
    logger.set_level(spdlog::level::debug);
    logger.flush_on(spdlog::level::debug);
    // spdlog would print its own complaint: a full disk ends the log and nothing else.
    logger.set_error_handler([](const std::string&) {});
  }
};

// Leaked on purpose: destructors of others may have something to say.
Diagnostics& Ours() {
  static auto* const ours = new Diagnostics();
  return *ours;
}

}  // namespace

std::optional<Error> ConfigureDiagnostics(const DiagnosticOptions& options) {
  std::vector<spdlog::sink_ptr> sinks = {Ours().to_stderr};
  if (!options.log_file.empty()) {
    Error error{"writing the log file", options.log_file, "", "a file that can be appended to",
                "Choose another place with --log-file."};
    // spdlog would make the folder: a mistyped path is to be said.
    const std::filesystem::path folder = std::filesystem::absolute(options.log_file).parent_path();
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
      error.found = "no folder " + folder.string();
      return error;
    }
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.log_file));
      sinks.back()->set_pattern(kFilePattern);
    } catch (const std::exception&) {
      error.found = std::generic_category().message(errno);
      return error;
    }
  }
  Ours().logger.sinks() = std::move(sinks);
  Ours().to_stderr->set_level(options.quiet     ? spdlog::level::err
                              : options.verbose ? spdlog::level::debug
                                                : spdlog::level::info);
  return std::nullopt;
}

void Diagnose(Level level, std::string_view text) noexcept {
  Ours().logger.log(ToSpdlog(level), spdlog::string_view_t(text.data(), text.size()));
}

bool StderrShows(Level level) { return Ours().to_stderr->should_log(ToSpdlog(level)); }

}  // namespace gpubound
