# Configures, builds and uses reference/ by itself: it may need nothing but a C++20 compiler.
file(REMOVE_RECURSE ${FOLDER})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
          -DCMAKE_BUILD_TYPE=Release
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)

# Headers first, library second: a program with nothing else in sight.
file(WRITE ${FOLDER}/user.cpp "
#include \"kvproof/reference/dialects.h\"
#include \"kvproof/reference/load.h\"
#include \"kvproof/reference/model.h\"
#include \"kvproof/reference/names.h\"
int main() {
  const kvproof::F32 x = 0x43E00000U;
  std::uint8_t code = 0;
  kvproof::model::encode(&x, 1, kvproof::Fp8::e4m3fn, 448, &code);
  return code == 0x7E && kvproof::find_dialect(\"strict\", kvproof::Layout::flashmla) != nullptr ? 0 : 1;
}
")
file(GLOB library ${FOLDER}/libkvproof_reference.a)
if(NOT library)
  message(FATAL_ERROR "no libkvproof_reference.a in ${FOLDER}")
endif()
execute_process(COMMAND ${COMPILER} -std=c++20 -I${SOURCE}/include ${FOLDER}/user.cpp ${library} -o ${FOLDER}/user
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FOLDER}/user COMMAND_ERROR_IS_FATAL ANY)
