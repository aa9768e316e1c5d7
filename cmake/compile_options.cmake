# Options of nvcc: it neither contracts nor flushes, and rounds correctly.
set(tally_exact_nvcc -fmad=false -ftz=false -prec-div=true -prec-sqrt=true)

# Options of every source of the library. They follow the user's flags, so that -ffast-math or -use_fast_math can't
# break the order contract.
function(tally_compile_options target)
  set(exact_cxx -fno-fast-math -fno-unsafe-math-optimizations -fno-associative-math
      -fno-reciprocal-math -fno-finite-math-only -fsigned-zeros -ffp-contract=off)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX,HIP>:${exact_cxx}>)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_BINARY_DIR}/include)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    CXX_STANDARD_REQUIRED OFF
    CUDA_STANDARD_REQUIRED OFF
    CUDA_EXTENSIONS OFF)
  # A project's default for all targets; CMake 3.25.1 rejects such targets' CUDA sources.
  set_property(TARGET ${target} PROPERTY CUDA_STANDARD)

  # Within another project compiler and warnings may be any.
  set(warnings -Wall -Wextra -Wshadow)
  if(TALLY_WARNINGS_AS_ERRORS)
    list(APPEND warnings -Werror)
  elseif(NOT TALLY_IS_TOP_LEVEL)
    set(warnings -Wno-error)
  endif()
  # Clang warns of hinted loops that it does not vectorise: for some types it need not.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${warnings}>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-pass-failed>)

  list(JOIN exact_cxx "," exact_host)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:${tally_exact_nvcc} -Xcompiler=${exact_host}>)
  # nvcc warns (445) of lambdas' type parameters that can't be deduced, as in tables made of types, and (549) of
  # variables set by inline assembly.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-diag-suppress=445,549>)
  # Compressed kernels are a fifth as large, and are unpacked on first use. (Measured with CUDA 13.)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
  endif()
  if(CMAKE_VERSION VERSION_LESS 3.25.2)  # no C++20 from nvcc before
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  endif()
endfunction()
