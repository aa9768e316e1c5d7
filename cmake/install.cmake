# The installation, and the package for find_package(tally): the installation's, and one in the build folder, for
# tally_DIR.
include(CMakePackageConfigHelpers)

# --- The library ----------------------------------------------------------------------------------

# Users of a static library link its dependencies.
if(tally_type STREQUAL "STATIC_LIBRARY")
  set(TALLY_IS_STATIC 1)
  if(TALLY_HAS_KOKKOS)
    install(TARGETS tally_kokkos EXPORT tallyTargets ARCHIVE DESTINATION ${TALLY_LIBRARY_FOLDER})
  endif()
  # Runtimes of C++ and OpenMP by name: projects in C or Fortran can't find them as packages.
  set(TALLY_RUNTIMES ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
  list(FILTER TALLY_RUNTIMES INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
  list(REMOVE_DUPLICATES TALLY_RUNTIMES)
  target_link_libraries(tally PRIVATE ${TALLY_RUNTIMES})
  if(TALLY_HAS_OPENMP)  # the build has paths
    target_link_libraries(tally PRIVATE "$<INSTALL_INTERFACE:${OpenMP_CXX_LIB_NAMES}>")
    list(PREPEND TALLY_RUNTIMES ${OpenMP_CXX_LIB_NAMES})
  endif()
else()
  set(TALLY_IS_STATIC 0)
endif()
install(TARGETS tally EXPORT tallyTargets
  LIBRARY DESTINATION ${TALLY_LIBRARY_FOLDER}
  ARCHIVE DESTINATION ${TALLY_LIBRARY_FOLDER})
install(TARGETS tally_mpi EXPORT tallyMpiTargets)
install(TARGETS tally_nccl EXPORT tallyNcclTargets)
install(DIRECTORY include/tally ${PROJECT_BINARY_DIR}/include/tally
        DESTINATION ${TALLY_HEADER_FOLDER}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.cuh")
install(FILES LICENSE DESTINATION ${TALLY_LICENSE_FOLDER})

# --- Fortran's modules, and their sources ---------------------------------------------------------

foreach(folder . mpi)
  configure_file(bindings/fortran/${folder}/fpm.toml.in bindings/fortran/${folder}/fpm.toml @ONLY)
endforeach()
install(DIRECTORY bindings/fortran/ ${CMAKE_CURRENT_BINARY_DIR}/bindings/fortran/
        DESTINATION ${TALLY_FORTRAN_FOLDER}
        FILES_MATCHING PATTERN "*.f90" PATTERN "*.c" PATTERN "*.h" PATTERN "fpm.toml")
if(TALLY_HAS_FORTRAN)
  tally_install_folder(TALLY_MODULE_FOLDER LIBDIR tally/fortran/${tally_fortran_compiler})
  target_include_directories(tally_fortran PUBLIC $<INSTALL_INTERFACE:${TALLY_MODULE_FOLDER}>)
  install(TARGETS tally_fortran EXPORT tallyFortranTargets ARCHIVE DESTINATION ${TALLY_MODULE_FOLDER})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/tally_fortran/modules/ DESTINATION ${TALLY_MODULE_FOLDER})
endif()

# --- The drop-in BLAS -----------------------------------------------------------------------------

if(TALLY_BUILD_BLAS)
  install(TARGETS tally_blas tally_blas64 tally_blas_f2c LIBRARY DESTINATION ${TALLY_LIBRARY_FOLDER})
  install(PROGRAMS bindings/blas/make_libblas DESTINATION ${TALLY_PROGRAM_FOLDER})
endif()

# --- The package ----------------------------------------------------------------------------------

set(exports tallyTargets tallyMpiTargets tallyNcclTargets)
if(TALLY_HAS_FORTRAN)
  list(APPEND exports tallyFortranTargets)
endif()
foreach(export IN LISTS exports)
  set(file ${export}.cmake)
  if(export STREQUAL "tallyFortranTargets")
    set(file ${export}-${tally_fortran_compiler}.cmake)
  endif()
  install(EXPORT ${export} NAMESPACE tally:: FILE ${file} DESTINATION ${TALLY_PACKAGE_FOLDER})
  export(EXPORT ${export} NAMESPACE tally:: FILE ${PROJECT_BINARY_DIR}/${file})
endforeach()

set(files ${PROJECT_BINARY_DIR}/tallyConfigVersion.cmake)
write_basic_package_version_file(${files} COMPATIBILITY SameMinorVersion)
foreach(file FindNCCL.cmake tally_fortran.cmake)
  configure_file(cmake/${file} ${PROJECT_BINARY_DIR}/${file} COPYONLY)
  list(APPEND files ${PROJECT_BINARY_DIR}/${file})
endforeach()
configure_package_config_file(cmake/tallyConfig.cmake.in installed/tallyConfig.cmake
  INSTALL_DESTINATION ${TALLY_PACKAGE_FOLDER} PATH_VARS TALLY_FORTRAN_FOLDER)
install(FILES ${files} ${CMAKE_CURRENT_BINARY_DIR}/installed/tallyConfig.cmake DESTINATION ${TALLY_PACKAGE_FOLDER})
set(TALLY_FORTRAN_FOLDER ${PROJECT_SOURCE_DIR}/bindings/fortran)
configure_package_config_file(cmake/tallyConfig.cmake.in ${PROJECT_BINARY_DIR}/tallyConfig.cmake
  INSTALL_DESTINATION ${PROJECT_BINARY_DIR} PATH_VARS TALLY_FORTRAN_FOLDER)

include(cmake/pkg_config.cmake)

# --- Removing it again ----------------------------------------------------------------------------

if(TALLY_IS_TOP_LEVEL)
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake ${PROJECT_BINARY_DIR}/install_manifest.txt
    VERBATIM)
endif()
