#include "tools/bench/rivals.h"

#include <cstdlib>

#ifdef TOMBOLO_WITH_OPENMPI
#include <mpi.h>
#endif
#ifdef TOMBOLO_WITH_OPENBLAS
#include <cblas.h>
#endif
#ifdef TOMBOLO_WITH_GLOO
#include "tools/bench/gloo_sum.h"
#endif

namespace tombolo::bench {

Rivals::Rivals() {
  open_openmpi();
  open_gloo();
  open_openblas();
}

#ifdef TOMBOLO_WITH_OPENMPI

namespace {

void mpi_add_fp32(std::byte* accumulator, const std::byte* input, std::size_t elements) {
  MPI_Reduce_local(input, accumulator, static_cast<int>(elements), MPI_FLOAT, MPI_SUM);
}

void mpi_add_int32(std::byte* accumulator, const std::byte* input, std::size_t elements) {
  MPI_Reduce_local(input, accumulator, static_cast<int>(elements), MPI_INT32_T, MPI_SUM);
}

/// MPI starts once per process, and ends with it.
class MpiSession {
 public:
  MpiSession() {
    // One process that talks to nobody: no network, no launcher.
    setenv("OMPI_MCA_btl", "self", 0);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
    is_open_ = MPI_Init(nullptr, nullptr) == MPI_SUCCESS;
  }
  ~MpiSession() {
    if (is_open_) MPI_Finalize();
  }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  bool is_open() const { return is_open_; }

 private:
  bool is_open_ = false;
};

}  // namespace

void Rivals::open_openmpi() {
  static const MpiSession session;
  if (!session.is_open()) {
    absent_.push_back({"openmpi", "MPI_Init failed"});
    return;
  }
  present_.push_back({"openmpi", "its own choice", wire::Format::kFp32, mpi_add_fp32});
  present_.push_back({"openmpi", "its own choice", wire::Format::kInt32, mpi_add_int32});
}

#else

void Rivals::open_openmpi() { absent_.push_back({"openmpi", "built without it: package libopenmpi-dev"}); }

#endif

void Rivals::open_gloo() {
#ifdef TOMBOLO_WITH_GLOO
  if (!__builtin_cpu_supports("avx2")) {
    absent_.push_back({"gloo", "its loops were compiled for AVX2, which this machine lacks"});
    return;
  }
  present_.push_back({"gloo", "avx2", wire::Format::kFp32, gloo_sum_fp32});
  present_.push_back({"gloo", "avx2", wire::Format::kFp16, gloo_sum_fp16});
#else
  absent_.push_back({"gloo", "built without it: package libgloo-dev"});
#endif
}

#ifdef TOMBOLO_WITH_OPENBLAS

namespace {

void blas_add_fp32(std::byte* accumulator, const std::byte* input, std::size_t elements) {
  cblas_saxpy(static_cast<blasint>(elements), 1.0F, reinterpret_cast<const float*>(input), 1,
              reinterpret_cast<float*>(accumulator), 1);
}

}  // namespace

void Rivals::open_openblas() {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) {
    absent_.push_back(
        {"openblas", "OPENBLAS_CORETYPE is set, so it would not run its best kernel: unset it"});
    return;
  }
  openblas_set_num_threads(1);
  present_.push_back({"openblas", openblas_get_corename(), wire::Format::kFp32, blas_add_fp32});
}

#else

void Rivals::open_openblas() { absent_.push_back({"openblas", "built without it: package libopenblas-dev"}); }

#endif

}  // namespace tombolo::bench
