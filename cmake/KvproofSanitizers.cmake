# AddressSanitizer and UndefinedBehaviorSanitizer for everything, the `asan` preset.
option(KVPROOF_ASAN "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
if(KVPROOF_ASAN)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=address,undefined)
endif()
