# Highway, the only required dependency: hwy::hwy, the parent project's or an installed one.
if(NOT TARGET hwy::hwy AND TARGET hwy)
  add_library(hwy::hwy ALIAS hwy)
endif()
if(NOT TARGET hwy::hwy)
  find_package(hwy 1.0.3 CONFIG QUIET)
endif()
if(NOT TARGET hwy::hwy)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(hwy QUIET IMPORTED_TARGET libhwy>=1.0.3)
  endif()
  if(NOT TARGET PkgConfig::hwy)
    message(FATAL_ERROR
      "tally needs Google Highway 1.0.3 or newer (Debian: libhwy-dev, Spack: highway); "
      "if it is installed elsewhere, set CMAKE_PREFIX_PATH")
  endif()
  add_library(hwy::hwy ALIAS PkgConfig::hwy)
endif()
