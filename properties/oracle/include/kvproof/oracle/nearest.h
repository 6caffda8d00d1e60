// Values to fp8 codes by looking for the nearest entry of the code table.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "kvproof/reference/fp8.h"

namespace kvproof::oracle {

// The codes of one type up to a limit. Of two codes equally near, the even one is taken; values beyond the limit take the
// limit's code.
class NearestCode {
 public:
  // `limit` is the largest magnitude in use: 448, 240 or 224.
  NearestCode(Fp8 type, int limit);

  // Looks through every code of the value's sign. NaN gives the type's NaN code.
  std::uint8_t of(double value) const;

  // The codes of `count` fp32 patterns from `first` on, all of one sign. Distances are taken to the codes between the two
  // ends' nearest ones and to one neighbour on either side, for each pattern by itself.
  void of_patterns(std::uint32_t first, Eigen::Index count, std::uint8_t* codes) const;

  std::uint8_t nan_code() const { return nan_code_; }

 private:
  // Codes of one sign from zero to the limit, so that neighbours are neighbours in value.
  struct Side {
    Eigen::ArrayXd values;
    Eigen::Array<std::uint8_t, Eigen::Dynamic, 1> codes;
  };

  Eigen::Index place_of(const Side& side, double value) const;
  double within_limit(double value) const;

  Side positive_;
  Side negative_;
  double limit_;
  std::uint8_t nan_code_;
};

}  // namespace kvproof::oracle
