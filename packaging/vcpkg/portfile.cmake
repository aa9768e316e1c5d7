set(SOURCE_PATH "${CURRENT_PORT_DIR}/../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
  cuda TALLY_ENABLE_CUDA
  openmp TALLY_ENABLE_OPENMP
  zlib TALLY_ENABLE_ZLIB)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS
  ${features}
  -DTALLY_ENABLE_KOKKOS=OFF
  -DTALLY_ENABLE_MPI=OFF
  -DTALLY_ENABLE_NCCL=OFF
  -DTALLY_ENABLE_FORTRAN=OFF
  -DTALLY_BUILD_TESTS=OFF
  -DTALLY_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tally)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
