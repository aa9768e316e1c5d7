# Finds Kokkos and defines tally_kokkos, the backend as a static library, to keep Kokkos from other sources. Sets
# TALLY_HAS_KOKKOS, TALLY_KOKKOS_ORIGIN (for messages), and for users of a static tally TALLY_KOKKOS_IS_PACKAGE
# (whether they find it as a package) and TALLY_KOKKOS_LIBRARIES (files, names and linker options, for tally.pc).
#
# In this order: an installed Kokkos (or the parent project's); with TALLY_ENABLE_KOKKOS=ON the release archive, or
# sources in FETCHCONTENT_SOURCE_DIR_KOKKOS; Debian's.

set(TALLY_KOKKOS_ORIGIN "")

# --- Installed ------------------------------------------------------------------------------------

# The package file of Debian's libtrilinos-kokkos-dev names missing folders and libraries, and fails only at
# generation. So it is kept out of the search, as is Kokkos Kernels'.
foreach(folder /usr/lib /lib)
  set(config ${folder}/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Kokkos)
  if(EXISTS ${config}/KokkosConfig.cmake)
    file(STRINGS ${config}/KokkosConfig.cmake tribits REGEX "TriBITS" LIMIT_COUNT 1)
    if(tribits)
      list(APPEND CMAKE_IGNORE_PATH ${config} ${config}Kernels)
    endif()
  endif()
endforeach()

if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos CONFIG QUIET)
endif()
if(TARGET Kokkos::kokkos)
  set(TALLY_KOKKOS_ORIGIN "${Kokkos_VERSION} in ${Kokkos_DIR}")
  set(TALLY_KOKKOS_LIBRARIES -L$<TARGET_LINKER_FILE_DIR:Kokkos::kokkoscore> kokkoscore ${CMAKE_DL_LIBS})
endif()

# --- The release archive --------------------------------------------------------------------------

# Newer than 4.7.00, the last that fails to compile with CUDA 13.
set(kokkos_version 5.1.1)
set(kokkos_sha256 8bdbee0f0ac383436743ad8a9e3e928705b34b31a25a92dc5179c52a3aa98519)
set(kokkos_source "${FETCHCONTENT_SOURCE_DIR_KOKKOS}")
if(NOT TALLY_KOKKOS_ORIGIN AND NOT kokkos_source AND NOT TALLY_ENABLE_KOKKOS STREQUAL "AUTO")
  set(archive ${PROJECT_BINARY_DIR}/kokkos-${kokkos_version}.tar.gz)
  # One try per build folder: where the network drops packets each takes seconds.
  if(NOT EXISTS ${archive} AND NOT TALLY_KOKKOS_ARCHIVE_UNREACHABLE AND NOT FETCHCONTENT_FULLY_DISCONNECTED)
    message(STATUS "Kokkos is not installed: downloading the release archive of ${kokkos_version}")
    file(DOWNLOAD
      https://github.com/kokkos/kokkos/releases/download/${kokkos_version}/kokkos-${kokkos_version}.tar.gz
      ${archive}.part STATUS status INACTIVITY_TIMEOUT 5 TIMEOUT 120)
    if(status MATCHES "^0;")
      file(RENAME ${archive}.part ${archive})
    endif()
    file(REMOVE ${archive}.part)
  endif()
  if(EXISTS ${archive})
    file(SHA256 ${archive} found)
    if(found STREQUAL kokkos_sha256)
      set(kokkos_source ${PROJECT_BINARY_DIR}/kokkos-${kokkos_version})
      if(NOT EXISTS ${kokkos_source})
        file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${PROJECT_BINARY_DIR} TOUCH)
      endif()
    else()  # a login page, for instance
      file(REMOVE ${archive})
    endif()
  endif()
  if(NOT kokkos_source)
    set(TALLY_KOKKOS_ARCHIVE_UNREACHABLE ON CACHE INTERNAL "Kokkos's release archive could not be had")
  endif()
endif()
if(NOT TALLY_KOKKOS_ORIGIN AND kokkos_source)
  # A shared Tally contains what it needs; users of a static one link it.
  set(excluded EXCLUDE_FROM_ALL)
  if(TALLY_INSTALL AND NOT BUILD_SHARED_LIBS)
    set(excluded "")
  endif()
  function(tally_add_kokkos)  # for the scope
    set(BUILD_SHARED_LIBS OFF)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    option(Kokkos_ENABLE_SERIAL "" ON)
    option(Kokkos_ENABLE_OPENMP "" ${TALLY_HAS_OPENMP})
    add_subdirectory(${kokkos_source} ${PROJECT_BINARY_DIR}/kokkos ${excluded})
  endfunction()
  tally_add_kokkos()
  foreach(language CUDA HIP)  # as an installed one does
    if(Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE AND Kokkos_ENABLE_${language})
      set(Kokkos_COMPILE_LANGUAGE ${language})
      get_target_property(Kokkos_${language}_ARCHITECTURES kokkoscore ${language}_ARCHITECTURES)
    endif()
  endforeach()
  set(TALLY_KOKKOS_LIBRARIES kokkoscore ${CMAKE_DL_LIBS})  # installed beside Tally
  if(FETCHCONTENT_SOURCE_DIR_KOKKOS)
    set(TALLY_KOKKOS_ORIGIN "sources in ${FETCHCONTENT_SOURCE_DIR_KOKKOS}")
  else()
    set(TALLY_KOKKOS_ORIGIN "${kokkos_version}, the release archive")
  endif()
endif()
if(TALLY_KOKKOS_ORIGIN)
  set(TALLY_KOKKOS_IS_PACKAGE 1)
  set(kokkos_libraries Kokkos::kokkos)
  set(kokkos_include_directories $<TARGET_PROPERTY:Kokkos::kokkos,INTERFACE_INCLUDE_DIRECTORIES>)
endif()

# --- Debian's -------------------------------------------------------------------------------------

if(NOT TALLY_KOKKOS_ORIGIN)
  find_path(TALLY_TRILINOS_INCLUDE_DIR Kokkos_Core.hpp PATH_SUFFIXES trilinos)
  find_library(TALLY_TRILINOS_KOKKOS trilinos_kokkoscore)
  mark_as_advanced(TALLY_TRILINOS_INCLUDE_DIR TALLY_TRILINOS_KOKKOS)
  if(TALLY_TRILINOS_INCLUDE_DIR AND TALLY_TRILINOS_KOKKOS)
    set(TALLY_KOKKOS_ORIGIN "Debian's, ${TALLY_TRILINOS_KOKKOS}")
    set(kokkos_libraries ${TALLY_TRILINOS_KOKKOS} ${CMAKE_DL_LIBS})
    set(TALLY_KOKKOS_LIBRARIES ${kokkos_libraries})
    set(kokkos_include_directories ${TALLY_TRILINOS_INCLUDE_DIR})
  endif()
endif()

# --- Kokkos's language ----------------------------------------------------------------------------

# Kokkos may have to be compiled as CUDA or HIP, with or without Tally's CUDA backend.
if(Kokkos_COMPILE_LANGUAGE AND NOT Kokkos_COMPILE_LANGUAGE STREQUAL "CXX")
  set(kokkos_language ${Kokkos_COMPILE_LANGUAGE})
  if(NOT DEFINED CMAKE_${kokkos_language}_ARCHITECTURES AND Kokkos_${kokkos_language}_ARCHITECTURES)
    set(CMAKE_${kokkos_language}_ARCHITECTURES ${Kokkos_${kokkos_language}_ARCHITECTURES})
  endif()
  enable_language(${kokkos_language})
else()
  set(kokkos_language CXX)
endif()

# Compiles sources with Kokkos's headers as Kokkos was compiled.
function(tally_compile_as_kokkos)  # sources
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE ${kokkos_language})
  if(kokkos_language STREQUAL "CUDA" AND CMAKE_VERSION VERSION_LESS 3.25.2)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -std=c++20)
  endif()
endfunction()

# --- The backend ----------------------------------------------------------------------------------

if(TALLY_KOKKOS_ORIGIN)
  set(TALLY_HAS_KOKKOS 1)
  message(STATUS "Kokkos: ${TALLY_KOKKOS_ORIGIN}")
  tally_sources_in(kokkos_sources backends/kokkos)
  add_library(tally_kokkos STATIC ${kokkos_sources})
  tally_compile_as_kokkos(${kokkos_sources})
  if(Kokkos_CUDA_ARCHITECTURES)  # only these devices run Kokkos's own kernels
    set_target_properties(tally_kokkos PROPERTIES CUDA_ARCHITECTURES "${Kokkos_CUDA_ARCHITECTURES}")
  endif()
  tally_compile_options(tally_kokkos)
  # Kokkos's compiler wrapper passes C++ sources to nvcc, as the compiler or by a rule that Kokkos's package sets.
  if(Kokkos_ENABLE_CUDA AND kokkos_language STREQUAL "CXX" AND
     (Kokkos_CXX_COMPILER_ID STREQUAL "NVIDIA" OR CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper"))
    target_compile_options(tally_kokkos PRIVATE ${tally_exact_nvcc})
  elseif(TALLY_IS_TOP_LEVEL)
    target_precompile_headers(tally_kokkos PRIVATE <Kokkos_Core.hpp> ${PROJECT_SOURCE_DIR}/backends/kokkos/kokkos.hpp)
  endif()
  target_compile_definitions(tally_kokkos PRIVATE
    TALLY_HAS_CUDA=${TALLY_HAS_CUDA} TALLY_HAS_OPENMP=${TALLY_HAS_OPENMP})
  target_link_libraries(tally_kokkos PRIVATE ${kokkos_libraries})
  target_include_directories(tally_kokkos SYSTEM PRIVATE ${kokkos_include_directories})
elseif(NOT TALLY_ENABLE_KOKKOS STREQUAL "AUTO")
  message(FATAL_ERROR
    "TALLY_ENABLE_KOKKOS is ON and there is no Kokkos: none is installed where CMake looks (set "
    "CMAKE_PREFIX_PATH or Kokkos_ROOT), its release archive can't be reached from here, and Debian's "
    "libtrilinos-kokkos-dev is not there")
endif()
