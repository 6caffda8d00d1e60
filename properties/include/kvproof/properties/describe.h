// Wrong bytes in words.
#pragma once

#include <string>

#include "kvproof/properties/case.h"
#include "kvproof/properties/judge.h"

namespace kvproof {

// Where the byte lies: "scale of page 0 slot 3 tile 2", "guard before the pool, 576 bytes before it".
std::string describe_place(const WrongByte& wrong, const StoreShape& shape);

// One line: place, owner, expected, found, with decoded values where a byte alone has one.
std::string describe(const WrongByte& wrong, const Case& c, const Dialect& dialect);

// The call in one line: "2 tokens of bf16, int64 indices 0 -1; 1 page of 2 tokens, page stride 1728; row stride 1024;
// e4m3fn".
std::string describe_call(const Case& c);

// One line that counts: "71 wrong bytes: code 64 wrong, scale 7 missing".
std::string summarise(const Judgement& judgement);

}  // namespace kvproof
