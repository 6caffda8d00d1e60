// What every built-in kernel is put through, on whatever memory it lives in. Each returns the first difference, or nothing.
#pragma once

#include <string>
#include <vector>

#include "kvproof/device/memory.h"
#include "kvproof/device/subject.h"

namespace kvproof {

using Subjects = std::vector<Subject>;

std::string sweep_random_shapes(const Subjects& subjects, Memory& memory);    // strides, alignments, indices
std::string sweep_every_amax(const Subjects& subjects, Memory& memory);       // 32,640 amax at every tile of a row
std::string sweep_every_element(const Subjects& subjects, Memory& memory);    // 65,536 bf16 and fp16 under many scales
std::string sweep_every_rope(const Subjects& subjects, Memory& memory);       // every rope value of each type
std::string sweep_custom_dialects(const Subjects& subjects, Memory& memory);  // fields that no named dialect has

}  // namespace kvproof
