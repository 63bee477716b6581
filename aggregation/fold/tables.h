#pragma once

#include "aggregation/fold/kind_table.h"

/// One table of functions per code path; kernel.cc chooses among them.
namespace tombolo::fold {

extern const FoldTable kBaselineFolds;
#if defined(__x86_64__)
extern const FoldTable kAvx2Folds;    ///< AVX2, FMA, F16C.
extern const FoldTable kAvx512Folds;  ///< AVX-512 F, BW, DQ, VL.
#endif

}  // namespace tombolo::fold
