// The production kernels on the host: one warp after another, the lanes of a warp in a loop.
#include <string>

#include "kernels/lane.h"
#include "kernels/machine_host.h"
#include "kernels/store.h"

namespace kvproof::kernels {
namespace {

constexpr int warp_lanes = 32;

template <class Lanes>
void reduce(Lane (&lanes)[warp_lanes]) {
  for (int first = 0; first < warp_lanes; first += Lanes::a_tile) {
    float amax = 0;
    for (int i = first; i < first + Lanes::a_tile; ++i) {
      amax = lanes[i].amax > amax ? lanes[i].amax : amax;
    }
    for (int i = first; i < first + Lanes::a_tile; ++i) {
      lanes[i].amax = amax;
    }
  }
}

template <class Lanes, ElementType Type>
void run(const StorePlan& plan) {
  Lane lanes[warp_lanes];
  for (std::int64_t first = 0; first < plan.tokens; first += warp_lanes / Lanes::a_token) {
    for (int i = 0; i < warp_lanes; ++i) {
      load_lane<HostMachine, Type>(plan, first + i / Lanes::a_token, i % Lanes::a_token, &lanes[i]);
    }
    reduce<Lanes>(lanes);
    for (int i = 0; i < warp_lanes; ++i) {
      store_lane<HostMachine, Lanes, Type>(plan, lanes[i], i % Lanes::a_token);
    }
  }
}

template <class Lanes>
void run(const StorePlan& plan) {
  switch (plan.input_type) {
    case ElementType::bf16:
      return run<Lanes, ElementType::bf16>(plan);
    case ElementType::fp16:
      return run<Lanes, ElementType::fp16>(plan);
    case ElementType::fp32:
      return run<Lanes, ElementType::fp32>(plan);
  }
}

}  // namespace

std::int32_t store_on_host(void* state, const kvproof_store_call* call, const char** message) {
  static thread_local std::string why;
  StorePlan plan{};
  if (!make_plan(*call, *static_cast<const Dialect*>(state), &plan, &why)) {
    *message = why.c_str();
    return KVPROOF_REFUSED;
  }
  if (plan.rules.dialect.layout == Layout::flashmla) {
    run<FlashmlaLanes>(plan);
  } else {
    run<IndexerLanes>(plan);
  }
  return KVPROOF_STORED;
}

}  // namespace kvproof::kernels
