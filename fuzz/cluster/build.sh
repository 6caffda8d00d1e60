#!/bin/bash -eu
# Builds the fuzz targets as ClusterFuzzLite and OSS-Fuzz ask for it: compilers and flags from the environment, the engine as
# $LIB_FUZZING_ENGINE, everything that a target needs in $OUT.
root=$(cd "$SRC/kvproof" && pwd -P)
work=${WORK:-$root/build}/cluster
targets=(store_flashmla store_indexer model_vs_oracle plugin read_case dialect load)

# The distribution's libraries speak libstdc++.
export CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}

cmake -S "$root" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKVPROOF_CUDA=OFF -DKVPROOF_TESTS=OFF \
  -DKVPROOF_LIBFUZZER=ON -DKVPROOF_FUZZING_ENGINE="$LIB_FUZZING_ENGINE"
cmake --build "$work" --target "${targets[@]/#/fuzz_}"

for target in "${targets[@]}"; do
  cp "$work/fuzz/fuzz_$target" "$OUT/"
  case $target in
    read_case) seeds=$root/corpus/vectors ;;
    dialect | load) seeds=$root/corpus/fuzz/$target ;;
    *) seeds=$root/corpus/fuzz/calls ;;
  esac
  rm -f "$OUT/fuzz_${target}_seed_corpus.zip"
  zip -qrj "$OUT/fuzz_${target}_seed_corpus.zip" "$seeds"
  if [[ -f $root/fuzz/options/$target.options ]]; then
    cp "$root/fuzz/options/$target.options" "$OUT/fuzz_$target.options"
  fi
done
cp "$root"/fuzz/dictionaries/*.dict "$OUT/"
