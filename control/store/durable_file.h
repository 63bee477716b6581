#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/store/file_operations.h"

namespace tombolo::control {

/// What a DurableFile holds: a file of another kind is refused.
struct FileKind {
  std::string_view name;    ///< At most 8 letters; in the file.
  std::string_view advice;  ///< What to do about a damaged file, as the end of a sentence.
};

/// One small file that is replaced whole. A crash at any moment leaves the old content or the new one. The
/// content is followed by a CRC32C over all that is before it, so damage is noticed and never used. One
/// writer.
class DurableFile {
 public:
  /// `operations` outlives it; nullptr: the system's.
  DurableFile(std::string path, FileKind kind, FileOperations* operations = nullptr);

  /// Returns once the content is on the disk. Errors: kUnavailable, naming file, step and reason; the file
  /// then holds the old content or, if only the last step failed, the new one.
  Status write(std::string_view content);

  /// Nothing if there is no such file. Errors: kUnavailable if it cannot be read; kFailed if it is damaged or
  /// of another kind, with what to do.
  Result<std::optional<std::string>> read() const;

  const std::string& path() const { return path_; }

 private:
  Status write_new(const std::string& new_path, std::string_view framed);
  Status sync_folder();
  Error failure(std::string_view step) const;
  Error damaged(std::string_view what) const;

  std::string path_;
  FileKind kind_;
  FileOperations* operations_;
};

}  // namespace tombolo::control
