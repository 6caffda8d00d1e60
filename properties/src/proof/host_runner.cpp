// Rows made, encoded and compared on the host, for kernels on the host or in memory of their own.
#include <algorithm>
#include <cstring>

#include "../declared_row.h"
#include "call.h"
#include "fill.h"
#include "kvproof/device/error.h"

namespace kvproof {
namespace {

// A buffer that the kernel sees: the host's own bytes, or a copy of them in the kernel's memory.
class Shared {
 public:
  explicit Shared(Memory& memory) : memory_(memory) {}
  ~Shared() { release(); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  std::uint8_t* of(std::int64_t bytes) {
    if (bytes > size_) {
      release();
      const auto wanted = static_cast<std::uint64_t>(bytes);
      kernels_ = static_cast<std::uint8_t*>(memory_.allocate(wanted));
      size_ = bytes;
      own_.resize(direct() ? 0 : wanted);
    }
    return here();
  }
  void send(std::int64_t bytes) {
    if (!direct()) {
      memory_.copy_in(kernels_, own_.data(), static_cast<std::uint64_t>(bytes));
    }
  }
  void fetch(std::int64_t bytes) {
    if (!direct()) {
      memory_.copy_out(own_.data(), kernels_, static_cast<std::uint64_t>(bytes));
    }
  }
  std::uint8_t* here() { return direct() ? kernels_ : own_.data(); }
  void* kernels() const { return kernels_; }

 private:
  bool direct() const { return memory_.kind() == MemoryKind::host; }
  void release() {
    if (kernels_ != nullptr) {
      memory_.release(kernels_);
      kernels_ = nullptr;
    }
  }

  Memory& memory_;
  std::uint8_t* kernels_ = nullptr;
  std::int64_t size_ = 0;
  std::vector<std::uint8_t> own_;
};

// Where a row's bytes lie in the pool.
struct Slot {
  std::uint8_t* data;
  std::uint8_t* scales;
};

Slot slot_at(std::uint8_t* pool, const StoreShape& shape, std::int64_t index) {
  std::uint8_t* page = pool + index / shape.page_size * shape.page_stride;
  const std::int64_t slot = index % shape.page_size;
  return {page + data_offset(shape.layout, slot), page + scale_offset(shape.layout, slot, shape.page_size)};
}

void put_index(std::uint8_t* indices, IndexType type, std::int64_t token, std::int64_t index) {
  const auto bytes = static_cast<std::size_t>(index_bytes(type));
  std::memcpy(indices + static_cast<std::size_t>(token) * bytes, &index, bytes);
}

void put_complement(std::uint8_t* to, const std::uint8_t* image, int count) {
  for (int i = 0; i < count; ++i) {
    to[i] = static_cast<std::uint8_t>(~image[i]);
  }
}

std::int64_t different(const std::uint8_t* a, const std::uint8_t* b, int count) {
  std::int64_t wrong = 0;
  if (std::memcmp(a, b, static_cast<std::size_t>(count)) != 0) {
    for (int i = 0; i < count; ++i) {
      wrong += a[i] != b[i] ? 1 : 0;
    }
  }
  return wrong;
}

class HostRunner final : public ProofRunner {
 public:
  explicit HostRunner(const Subject& subject)
      : subject_(subject), memory_(memory_of(subject)), input_(*memory_), indices_(*memory_), pool_(*memory_) {}

  ProofAnswer run(const ProofQuestion& question) override {
    const ProofDomain& domain = domain_.of(question, subject_.dialect);
    ProofAnswer answer;
    for (std::int64_t first = question.first; first < question.last && !answer.failure && answer.wrong_rows == 0;
         first += question.rows_a_call) {
      call(domain, question, first, std::min(question.rows_a_call, question.last - first), answer);
    }
    return answer;
  }

 private:
  void call(const ProofDomain& domain, const ProofQuestion& question, std::int64_t first, std::int64_t rows,
            ProofAnswer& answer) {
    const StoreShape shape = proof_shape(subject_, question, rows, index_type_at(subject_, question, first));
    const SlotOrder order = slot_order(rows);
    const LayoutShape layout = layout_shape(shape.layout);
    const Pad pad = subject_.dialect.pad;
    std::uint8_t* input = input_.of(shape.input_bytes());
    std::uint8_t* indices = indices_.of(shape.indices_bytes());
    std::uint8_t* pool = pool_.of(shape.pool_bytes());
    images_.resize(static_cast<std::size_t>(rows));
    pairs_.resize(static_cast<std::size_t>(rows));

    const DomainView view = domain.view();
    std::int64_t group = enumerates(question.domain) ? group_of(view, first * layout.tiles) : 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::uint8_t* row = input + i * shape.row_stride;
      pairs_[at] = fill_row(view, first + i, group, row);
      encode_row(row, question.input, subject_.dialect, question.fp8, &images_[at]);
      const Slot slot = slot_at(pool, shape, order.index(i));
      put_complement(slot.data, images_[at].data, layout.data_bytes);
      put_complement(slot.scales, images_[at].scales, layout.scale_bytes);
      put_index(indices, shape.index_type, i, order.index(i));
      if (layout.pad != 0) {
        slot.scales[layout.scale_bytes - 1] = pad_before(first + i, pad);
        images_[at].scales[layout.scale_bytes - 1] = pad_after(first + i, pad);
      }
    }
    input_.send(shape.input_bytes());
    indices_.send(shape.indices_bytes());
    pool_.send(shape.pool_bytes());
    if (!store_rows(subject_, shape, input_.kernels(), pool_.kernels(), indices_.kernels(), *memory_, answer)) {
      return;
    }
    pool_.fetch(shape.pool_bytes());
    pool = pool_.here();
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Slot slot = slot_at(pool, shape, order.index(i));
      const std::int64_t others = different(slot.data, images_[at].data, layout.data_bytes) +
                                  different(slot.scales, images_[at].scales, layout.scale_bytes);
      answer.pairs += pairs_[at];
      if (others == 0) {
        continue;
      }
      const std::int64_t explained =
          subject_.dialect.reciprocal_ulp == 0 ? 0 : explained_codes(input + i * shape.row_stride, question, slot);
      answer.explained += explained;
      if (explained != 0 && answer.explained_row < 0) {
        answer.explained_row = first + i;
        copy(slot, layout, answer.explained_found);
      }
      if (others != explained) {
        ++answer.wrong_rows;
        answer.wrong_bytes += others - explained;
        if (answer.first_wrong < 0) {
          answer.first_wrong = first + i;
          answer.index_type = shape.index_type;
          copy(slot, layout, answer.found);
        }
      }
    }
    answer.codes += rows * layout.codes;
    answer.bytes += rows * layout.token_bytes();
  }

  // Codes of a row that are not the model's and that the dialect's declared error explains.
  std::int64_t explained_codes(const std::uint8_t* row, const ProofQuestion& question, const Slot& slot) const {
    const DeclaredRow declared(row, question.input, subject_.dialect, question.fp8);
    std::int64_t explained = 0;
    for (int i = 0; i < layout_shape(subject_.dialect.layout).codes; ++i) {
      explained += slot.data[i] != declared.image.data[i] && declared.explains(i, slot.data[i]) ? 1 : 0;
    }
    return explained;
  }

  static void copy(const Slot& slot, const LayoutShape& layout, RowImage& to) {
    std::memcpy(to.data, slot.data, static_cast<std::size_t>(layout.data_bytes));
    std::memcpy(to.scales, slot.scales, static_cast<std::size_t>(layout.scale_bytes));
  }

  const Subject& subject_;
  std::unique_ptr<Memory> memory_;
  Shared input_;
  Shared indices_;
  Shared pool_;
  std::vector<RowImage> images_;
  std::vector<std::int64_t> pairs_;
  KnownDomain domain_;
};

}  // namespace

std::unique_ptr<ProofRunner> proof_runner(const Subject& subject) {
  if (subject.memory == MemoryKind::cuda) {
#if defined(KVPROOF_HAS_CUDA)
    return cuda_proof_runner(subject);
#else
    throw CannotRun("no GPU: this build has no CUDA");
#endif
  }
  return std::make_unique<HostRunner>(subject);
}

}  // namespace kvproof
