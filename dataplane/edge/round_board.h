#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace tombolo::dataplane {

/// A round that is open at a fold point of a lane, as control and people look at it.
struct RoundView {
  std::uint32_t epoch = 0;
  std::uint32_t round = 0;
  std::uint16_t rank = 0;          ///< The island that the fold point serves.
  std::uint32_t entry = 0;         ///< Of the epoch's schedule.
  std::uint64_t late = 0;          ///< A bit per member that the oldest unfinished chunk waits for.
  std::uint32_t chunks_done = 0;   ///< Of the lane, without a gap.
  std::uint32_t chunks_total = 0;  ///< 0 while nobody has contributed, so that nobody knows.
  Nanoseconds first_contribution_ns = kNever;
};

/// The rounds that are open in a lane: its worker writes, anybody reads, nobody waits. A reader gets a record
/// whole or not at all. Of more rounds than there are places the first ones are shown.
class RoundBoard {
 public:
  static constexpr std::size_t kPlaces = 8;

  /// Writer: what stands at a place from now on.
  void put(std::size_t place, const RoundView& view) {
    Record& record = records_[place];
    begin(record);
    const std::array<std::uint64_t, kWords> words{
        std::uint64_t{view.epoch} << 32 | view.round, std::uint64_t{view.entry} << 32 | view.rank, view.late,
        std::uint64_t{view.chunks_done} << 32 | view.chunks_total, view.first_contribution_ns};
    for (std::size_t i = 0; i < kWords; ++i) record.words[i].store(words[i], std::memory_order_release);
    end(record);
  }
  /// Writer: how many places are in use.
  void set_count(std::size_t count) { count_.store(count, std::memory_order_release); }

  std::size_t count() const { return count_.load(std::memory_order_acquire); }
  /// Reader: nothing when the writer was at it each time that it was tried.
  std::optional<RoundView> get(std::size_t place) const {
    const Record& record = records_[place];
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::uint64_t before = record.version.load(std::memory_order_acquire);
      std::array<std::uint64_t, kWords> words;
      for (std::size_t i = 0; i < kWords; ++i) words[i] = record.words[i].load(std::memory_order_acquire);
      if (before % 2 != 0 || record.version.load(std::memory_order_relaxed) != before) continue;
      RoundView view;
      view.epoch = static_cast<std::uint32_t>(words[0] >> 32);
      view.round = static_cast<std::uint32_t>(words[0]);
      view.entry = static_cast<std::uint32_t>(words[1] >> 32);
      view.rank = static_cast<std::uint16_t>(words[1]);
      view.late = words[2];
      view.chunks_done = static_cast<std::uint32_t>(words[3] >> 32);
      view.chunks_total = static_cast<std::uint32_t>(words[3]);
      view.first_contribution_ns = words[4];
      return view;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kWords = 5;
  static constexpr int kAttempts = 16;

  /// The version is odd while the record is being written. Each word is written with release and read with
  /// acquire: a reader that sees a new word sees the odd version, or a later one, when it looks again.
  struct alignas(64) Record {
    std::atomic<std::uint64_t> version{0};
    std::array<std::atomic<std::uint64_t>, kWords> words{};
  };
  static void begin(Record& record) {
    record.version.store(record.version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  static void end(Record& record) {
    record.version.store(record.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::array<Record, kPlaces> records_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace tombolo::dataplane
