# MPFR, for tests and the comparison: the target tally_mpfr, if found.
if(NOT TARGET tally_mpfr)
  find_path(TALLY_MPFR_INCLUDE_DIR mpfr.h)
  find_path(TALLY_GMP_INCLUDE_DIR gmp.h)
  find_library(TALLY_MPFR mpfr)
  find_library(TALLY_GMP gmp)
  mark_as_advanced(TALLY_MPFR_INCLUDE_DIR TALLY_GMP_INCLUDE_DIR TALLY_MPFR TALLY_GMP)
  if(TALLY_MPFR_INCLUDE_DIR AND TALLY_GMP_INCLUDE_DIR AND TALLY_MPFR AND TALLY_GMP)
    add_library(tally_mpfr INTERFACE)
    target_include_directories(tally_mpfr SYSTEM INTERFACE
      ${TALLY_MPFR_INCLUDE_DIR} ${TALLY_GMP_INCLUDE_DIR})
    target_link_libraries(tally_mpfr INTERFACE ${TALLY_MPFR} ${TALLY_GMP})
  endif()
endif()
