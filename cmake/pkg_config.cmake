# tally.pc. It describes the kind of library that is installed: a static one's user gets what it is
# made of without asking for --static.
set(tally_pc_libraries "")
if(TALLY_IS_STATIC)
  set(libraries "")
  if(TALLY_HAS_KOKKOS)
    list(APPEND libraries tally_kokkos ${TALLY_KOKKOS_LIBRARIES})
  endif()
  if(TALLY_HAS_CUDA)
    list(APPEND libraries ${CUDA_cudart_static_LIBRARY} pthread rt dl)
  endif()
  if(TALLY_HAS_ZLIB)
    list(APPEND libraries ${ZLIB_LIBRARIES})
  endif()
  # A library is named, with its folder unless linkers look there anyway: another machine may have the
  # library elsewhere, or in another version.
  foreach(library IN LISTS libraries TALLY_RUNTIMES)
    if(library MATCHES "^(/.*)/lib([^/]+)\\.(so|a|dylib)[.0-9]*$")
      set(library ${CMAKE_MATCH_2})
      if(NOT CMAKE_MATCH_1 IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        string(APPEND tally_pc_libraries " -L${CMAKE_MATCH_1}")
      endif()
    endif()
    if(NOT library MATCHES "^[-/]")
      string(PREPEND library -l)
    endif()
    string(APPEND tally_pc_libraries " ${library}")
  endforeach()
endif()

file(RELATIVE_PATH tally_prefix_from_pc
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" tally_prefix_from_pc "${tally_prefix_from_pc}")
configure_file(cmake/tally.pc.in tally.pc.configured @ONLY)
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/tally.pc
     INPUT ${CMAKE_CURRENT_BINARY_DIR}/tally.pc.configured)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tally.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# tally-fortran.pc, for the compiler that compiled the modules last.
if(TALLY_HAS_FORTRAN)
  configure_file(cmake/tally-fortran.pc.in tally-fortran.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tally-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
