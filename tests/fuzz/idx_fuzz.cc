#include "schedule/simulate/idx.h"

#include "base/check.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  const auto idx = schedule::parse_idx(std::span(data, size), "input");
  if (idx.ok()) {
    CHECK(!idx->dimensions.empty() && idx->dimensions.size() <= 3);
    std::uint64_t values = 1;
    for (const std::uint32_t dimension : idx->dimensions) values *= dimension;
    CHECK(values > 0 && values == idx->values.size() && values <= schedule::kMaxIdxBytes);
  } else {
    CHECK(idx.error().code == ErrorCode::kInvalidInput);
    CHECK(idx.error().message.starts_with("input: "));
  }
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  using namespace std::string_literals;
  return {
      "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x03"s + "ABCDEF",
      "\0\0\x08\x01\0\0\0\x04"s + "\x00\x09\x01\x02"s,
      // A third one as gzip writes it, its data stored and not compressed.
      "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x0c\0\xf3\xff\0\0\x08\x01\0\0\0\x04\0\x01\x02\x03\x17\x6d\x04\x20\x0c\0\0\0"s};
}
