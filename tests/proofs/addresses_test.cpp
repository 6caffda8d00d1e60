// The claims hold for the kernels' map, fail for wrong ones, and the 32-bit wrap points are the known ones.
#include "kvproof/proofs/addresses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kernels/address.h"
#include "kvproof/proofs/map.h"
#include "kvproof/reference/locate.h"

namespace kvproof::proofs {
namespace {

const AddressProof& proof() {
  static const AddressProof once = prove_addresses();
  return once;
}

std::vector<Query> asked(const AddressMap& map) {
  z3::context context;
  Questions questions(context);
  ask_map(questions, map);
  return std::move(questions.asked());
}

std::int64_t value(const Query& query, const std::string& name) {
  for (const auto& [known, number] : query.values) {
    if (known == name) {
      return number;
    }
  }
  ADD_FAILURE() << query.claim << " has no " << name;
  return -1;
}

// The claim of that text must be refuted, by a counterexample; returns it.
Query refuted(const std::vector<Query>& queries, const std::string& claim) {
  const auto found = std::find_if(queries.begin(), queries.end(), [&](const Query& q) { return q.claim == claim; });
  if (found == queries.end()) {
    ADD_FAILURE() << "not asked: " << claim;
    return {};
  }
  EXPECT_EQ(found->answer, Answer::refuted) << claim;
  EXPECT_FALSE(found->values.empty()) << claim;
  return *found;
}

TEST(address_proof, every_claim_is_answered_as_expected) {
  std::map<std::string, int> proved;
  for (const Query& query : proof().queries) {
    EXPECT_TRUE(query.as_wanted()) << query.group << ": " << query.claim << ": " << name_of(query.answer);
    proved[query.group] += query.answer == Answer::proved ? 1 : 0;
  }
  EXPECT_TRUE(proof().holds());
  EXPECT_EQ(proved, (std::map<std::string, int>{{"lemmas", 7}, {"flashmla", 34}, {"indexer", 13}, {"32 bits", 0}}));
}

TEST(address_proof, nothing_asked_does_not_hold) { EXPECT_FALSE(AddressProof{}.holds()); }

TEST(address_proof, thirty_two_bits_first_wrap_where_it_is_known) {
  std::vector<std::int64_t> indices;
  for (const Query& query : proof().queries) {
    if (query.group == "32 bits") {
      indices.push_back(value(query, "index"));
    }
  }
  EXPECT_EQ(indices, (std::vector<std::int64_t>{
                         3'670'784, 3'670'912, 3'670'912, 2'485'514,  // flashmla rows, P = 256, 128, 64, 2
                         7'341'824, 7'341'824, 7'341'824,             // rope by 2-byte elements, P = 256, 128, 64
                         16'268'816, 16'268'800, 65'075'200,          // indexer codes, scales, scales by 4-byte elements
                         7'341'824, 7'341'824, 14'683'648,            // uint32: flashmla rows, P = 256, 64; rope
                         32'537'632, 130'150'464}));                  // uint32: indexer codes; scales by 4-byte elements
}

// The first token of a layout, in order of indices, of which a byte is elsewhere in 32 bits, by the model's own arithmetic.
// From `from` on; that no earlier page wraps follows from offsets that grow with the page.
std::int64_t first_wrap(Layout layout, std::int64_t page_size, const std::string& region, int view, Width width,
                        std::int64_t from) {
  const std::int64_t stride = production_page_stride(layout, page_size);
  for (std::int64_t index = from;; ++index) {
    const std::int64_t page = index / page_size;
    const std::int64_t slot = index % page_size;
    for (const OwnedRange& range : owned_ranges(layout)) {
      if (!region.empty() && range.name != region) {
        continue;
      }
      const std::int64_t plane = range.in_scales ? scale_offset(layout, slot, page_size) : data_offset(layout, slot);
      for (std::int64_t byte = plane + range.begin; byte < plane + range.end; ++byte) {
        if (byte_offset(page, stride, byte, view, width) != page * stride + byte) {
          return index;
        }
      }
    }
  }
}

TEST(address_proof, the_model_wraps_at_the_same_index) {
  EXPECT_EQ(first_wrap(Layout::flashmla, 256, "", 1, Width::int32, 3'670'784 - 1024), 3'670'784);
  EXPECT_EQ(first_wrap(Layout::flashmla, 128, "", 1, Width::int32, 3'670'912 - 1024), 3'670'912);
  EXPECT_EQ(first_wrap(Layout::flashmla, 64, "", 1, Width::int32, 3'670'912 - 1024), 3'670'912);
  EXPECT_EQ(first_wrap(Layout::flashmla, 2, "", 1, Width::int32, 2'485'514 - 1024), 2'485'514);
  EXPECT_EQ(first_wrap(Layout::flashmla, 64, "rope values", 2, Width::int32, 7'341'824 - 1024), 7'341'824);
  EXPECT_EQ(first_wrap(Layout::indexer, 64, "codes", 1, Width::int32, 16'268'816 - 1024), 16'268'816);
  EXPECT_EQ(first_wrap(Layout::indexer, 64, "scales", 4, Width::int32, 65'075'200 - 1024), 65'075'200);
  EXPECT_EQ(first_wrap(Layout::flashmla, 64, "rope values", 2, Width::uint32, 14'683'648 - 1024), 14'683'648);
  EXPECT_EQ(first_wrap(Layout::indexer, 64, "codes", 1, Width::uint32, 32'537'632 - 1024), 32'537'632);
}

TEST(wrong_map, a_slot_stride_of_584_is_refuted) {
  AddressMap map = kernel_map(Layout::flashmla);
  map.data = [](const Term& slot) { return slot * 584; };
  const std::vector<Query> queries = asked(map);
  const Query overlap = refuted(queries, "rope values of one token and scales of another are disjoint");
  // The rope of the last slot reaches over the scales that begin where 576 bytes a slot end.
  const std::int64_t rope = value(overlap, "one begins");
  const std::int64_t scales = value(overlap, "other begins");
  EXPECT_LT(rope, scales + 7);
  EXPECT_LT(scales, rope + 128);
}

TEST(wrong_map, a_scale_plane_eight_bytes_low_is_refuted) {
  AddressMap map = kernel_map(Layout::flashmla);
  map.scales = [](const Term& slot, const Term& page_size) { return page_size * 576 + slot * 8 + (-8); };
  refuted(asked(map), "rope values and scales of a token are disjoint");
}

TEST(wrong_map, a_smaller_page_stride_is_refuted) {
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    AddressMap map = kernel_map(layout);
    map.token_bytes = layout_shape(layout).data_bytes;
    const std::vector<Query> queries = asked(map);
    refuted(queries, "scales lie inside the pool");
    const Query overlap = refuted(queries, "scales of one token and codes of another are disjoint");
    EXPECT_GE(value(overlap, "pages"), 2);
  }
}

TEST(wrong_map, a_page_base_that_ignores_the_stride_is_refuted) {
  AddressMap map = kernel_map(Layout::indexer);
  map.page_begin = [](const Term& page, const Term&) { return page * 128; };
  refuted(asked(map), "codes of one token and codes of another are disjoint");
}

TEST(wrong_map, an_intermediate_that_overflows_is_refuted) {
  AddressMap map = kernel_map(Layout::flashmla);
  map.page_begin = [](const Term& page, const Term& stride) { return page * stride * 4096; };
  const std::vector<Query> queries = asked(map);
  const auto overflow = std::find_if(queries.begin(), queries.end(),
                                     [](const Query& q) { return q.claim.find("overflows int64") != std::string::npos; });
  ASSERT_NE(overflow, queries.end());
  EXPECT_EQ(overflow->answer, Answer::refuted);
}

}  // namespace
}  // namespace kvproof::proofs
