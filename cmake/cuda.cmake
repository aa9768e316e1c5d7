# The CUDA backend's toolchain: sets TALLY_HAS_CUDA.

# By default Turing, Ampere and Hopper, and PTX for later ones. Must precede enable_language.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  find_package(CUDAToolkit 12.0 QUIET)
endif()
if(CUDAToolkit_FOUND)
  set(TALLY_HAS_CUDA 1)
elseif(NOT TALLY_ENABLE_CUDA STREQUAL "AUTO")
  message(FATAL_ERROR "TALLY_ENABLE_CUDA is ON and no CUDA toolkit of version 12 or newer was found")
endif()
