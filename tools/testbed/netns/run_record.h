#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tombolo::testbed {

/// A process, so that its number cannot be mistaken for that of a later one.
struct ProcessMark {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< When it started, since the boot, as the kernel counts.

  friend bool operator==(const ProcessMark&, const ProcessMark&) = default;
};

/// Of a process that runs; `start_ticks` 0 if there is none.
ProcessMark mark_of(pid_t pid);

/// What a run has made that outlives it if it is killed.
struct RecordedRun {
  ProcessMark owner;
  std::vector<std::string> namespaces;
  std::vector<ProcessMark> processes;
};

/// Any bytes may be given. Errors: kInvalidInput, naming what is wrong; a namespace that is not one of the
/// testbed's names is refused, so that a damaged file removes nothing of others.
Result<RecordedRun> parse_recorded_run(std::string_view text);
std::string write_recorded_run(const RecordedRun& run);

/// The file that tells the next run what this one made. Written before a thing is made.
class RunRecord {
 public:
  /// In `folder`, which is made if it is missing. Errors: kUnavailable, naming the file.
  static Result<std::unique_ptr<RunRecord>> create(const std::string& folder);
  /// Removes the file: everything that it names is gone.
  ~RunRecord();
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;

  /// "1234": the run's number, which its namespaces carry.
  std::string id() const;
  Status add_namespaces(const std::vector<std::string>& names);
  Status add_process(pid_t pid);

 private:
  explicit RunRecord(std::string path) : path_(std::move(path)) {}
  Status write() const;

  std::string path_;
  RecordedRun run_;
};

/// Where records live: /run/tombolo, or below $TMPDIR where that cannot be made.
std::string record_folder();

/// Removes what dead runs left: kills recorded processes that still run, deletes recorded namespaces, and the
/// record. Returns a line for each run that was cleaned up, and for each record that cannot be read.
std::vector<std::string> clean_up_dead_runs(const std::string& folder);

/// Every namespace of a testbed has this prefix.
inline constexpr std::string_view kNamespacePrefix = "tbl-";

}  // namespace tombolo::testbed
