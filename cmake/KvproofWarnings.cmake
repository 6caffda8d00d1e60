# Every target of ours links this; warnings are errors.
add_library(kvproof_warnings INTERFACE)
set(kvproof_warning_flags -Wall -Wextra -Wconversion -Wshadow -Werror)
target_compile_options(kvproof_warnings INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:${kvproof_warning_flags}>)
# nvcc hands these to the host compiler; its own generated code does not survive -Wconversion.
target_compile_options(kvproof_warnings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow,-Werror>)
# Kernels on the host must round each operation by itself, as their GPU twins do.
target_compile_options(kvproof_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
