#include "tools/bench/row.h"

#include <gtest/gtest.h>

#include <array>

namespace tombolo::bench {
namespace {

TEST(RowJson, HasEveryFieldAndNullForWhatDoesNotApply) {
  Row row;
  row.bench = "replicate";
  row.impl = "limit";
  row.copies = 8;
  row.mpps = 70.5;
  row.more["distance_bytes"] = 57344;
  const auto json = to_json(row);
  for (const char* name : {"bench", "impl", "format", "k", "copies", "chunk_bytes", "resident", "isa",
                           "gbytes_per_s", "gbit_per_s", "mpps", "spread"})
    EXPECT_TRUE(json.contains(name)) << name;
  EXPECT_EQ(json["copies"], 8);
  EXPECT_EQ(json["mpps"], 70.5);
  EXPECT_EQ(json["distance_bytes"], 57344);
  EXPECT_TRUE(json["format"].is_null());
  EXPECT_TRUE(json["k"].is_null());
  EXPECT_TRUE(json["gbytes_per_s"].is_null());
}

TEST(RowTable, HasOnlyTheColumnsThatSomeRowFills) {
  std::array<Row, 2> rows;
  rows[0].bench = rows[1].bench = "fold";
  rows[0].impl = "tombolo";
  rows[1].impl = "limit";
  rows[0].k = rows[1].k = 2;
  rows[0].spread = 0.125;
  rows[0].exact = true;
  const std::string expected =
      "bench     impl  k  spread  exact\n"
      " fold  tombolo  2  12.5 %    yes\n"
      " fold    limit  2       -      -\n";
  EXPECT_EQ(format_table(rows), expected);
}

}  // namespace
}  // namespace tombolo::bench
