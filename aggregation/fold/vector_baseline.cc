#include "aggregation/fold/tables.h"
#include "aggregation/fold/vector_fold.h"
#include "aggregation/fold/vector_types.h"

namespace tombolo::fold {

const FoldTable kBaselineFolds = vector_folds<Vectors<4>>();

}  // namespace tombolo::fold
