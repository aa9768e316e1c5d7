# Compilation of the Fortran modules: in Tally's own build, and in projects whose installation has none for their
# compiler. Pre: Fortran and C are enabled.

# A compiler's name in names of folders.
set(tally_fortran_compiler ${CMAKE_Fortran_COMPILER_ID}-${CMAKE_Fortran_COMPILER_VERSION})

# Standard descriptors of any rank came with gfortran 12, and with flang 19 by an option.
set(tally_fortran_problem "")
set(tally_fortran_options "")
if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_Fortran_COMPILER_VERSION VERSION_LESS 12)
    set(tally_fortran_problem "gfortran ${CMAKE_Fortran_COMPILER_VERSION} is older than 12")
  endif()
elseif(CMAKE_Fortran_COMPILER_ID STREQUAL "LLVMFlang")
  if(CMAKE_Fortran_COMPILER_VERSION VERSION_LESS 19)
    set(tally_fortran_problem "flang ${CMAKE_Fortran_COMPILER_VERSION} is older than 19")
  elseif(CMAKE_Fortran_COMPILER_VERSION VERSION_LESS 20)
    set(tally_fortran_options "SHELL:-mmlir -allow-assumed-rank")
  endif()
endif()

# The C compiler may be unrelated to Fortran's: that header alone comes from Fortran's folders.
if(NOT TALLY_FORTRAN_BINDING)
  get_filename_component(folder ${CMAKE_Fortran_COMPILER} REALPATH)
  get_filename_component(folder ${folder} DIRECTORY)
  set(folders ${folder}/../include/flang ${folder}/../include)
  execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-file-name=include
    OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(IS_ABSOLUTE "${own}")
    list(PREPEND folders ${own})
  endif()
  find_file(TALLY_FORTRAN_BINDING ISO_Fortran_binding.h HINTS ${folders})
  mark_as_advanced(TALLY_FORTRAN_BINDING)
endif()
if(NOT TALLY_FORTRAN_BINDING AND tally_fortran_problem STREQUAL "")
  set(tally_fortran_problem "${CMAKE_Fortran_COMPILER} has no ISO_Fortran_binding.h")
endif()

# Tests, once for each pair, whether both compilers agree about descriptors: an untested compiler may have the header
# without the features.
if(tally_fortran_problem STREQUAL "")
  set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/tally_fortran_descriptors)
  configure_file(${TALLY_FORTRAN_BINDING} ${folder}/ISO_Fortran_binding.h COPYONLY)
  file(WRITE ${folder}/stride.c [[
#include <ISO_Fortran_binding.h>
#include <stddef.h>
int stride(const CFI_cdesc_t* x, const CFI_cdesc_t* y) {
  return y == NULL && x->rank == 1 && x->type == CFI_type_double ? (int)x->dim[0].sm : 0;
}
]])
  file(WRITE ${folder}/descriptors.f90 [[
module descriptors
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function stride(x, y) bind(C)
      import
      type(*), intent(in) :: x(..)
      type(*), intent(in), optional :: y(..)
    end function
  end interface
contains
  integer(c_int) function stride_of(x)
    real(c_double), pointer, intent(in) :: x(..)
    stride_of = stride(x)
  end function
  subroutine passed_on(x, s, y)
    type(*), intent(in) :: x(..)
    integer(c_int), intent(out) :: s
    type(*), intent(in), optional :: y(..)
    s = stride(x, y)
  end subroutine
end module
program main
  use descriptors
  implicit none
  real(c_double), target :: x(9) = 0
  integer(c_int) :: s
  call passed_on(x(::3), s)
  if (s /= 24 .or. stride_of(x(9:1:-2)) /= -16) error stop
end program
]])
  if(NOT "${tally_fortran_tried}" STREQUAL "${CMAKE_Fortran_COMPILER} ${CMAKE_C_COMPILER}")
    unset(tally_fortran_descriptors CACHE)
  endif()
  set(tally_fortran_tried "${CMAKE_Fortran_COMPILER} ${CMAKE_C_COMPILER}" CACHE INTERNAL "")
  if(NOT DEFINED tally_fortran_descriptors)
    set(flags "${CMAKE_Fortran_FLAGS}")
    string(REPLACE "SHELL:" "" options "${tally_fortran_options}")
    string(APPEND CMAKE_Fortran_FLAGS " ${options}")
    try_compile(tally_fortran_descriptors ${folder}
      SOURCES ${folder}/descriptors.f90 ${folder}/stride.c
      CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${folder}"
      OUTPUT_VARIABLE output
      COPY_FILE ${folder}/descriptors)
    set(CMAKE_Fortran_FLAGS "${flags}")
    if(tally_fortran_descriptors AND NOT CMAKE_CROSSCOMPILING)
      execute_process(COMMAND ${folder}/descriptors RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
      if(NOT result EQUAL 0)
        set(tally_fortran_descriptors FALSE CACHE INTERNAL "")
      endif()
    endif()
    if(NOT tally_fortran_descriptors)
      file(WRITE ${folder}/output.txt "${output}")
    endif()
  endif()
  if(NOT tally_fortran_descriptors)
    set(tally_fortran_problem
      "${CMAKE_Fortran_COMPILER} and ${CMAKE_C_COMPILER} do not pass arrays as Fortran 2018 says (${folder}/output.txt)")
  endif()
endif()

# Adds a static library of a Fortran module and its C part, from the sources in a folder.
function(tally_add_fortran_library target sources)
  file(GLOB files ${sources}/src/*.f90 ${sources}/src/*.c)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  add_library(${target} STATIC ${files})
  configure_file(${TALLY_FORTRAN_BINDING} ${folder}/include/ISO_Fortran_binding.h COPYONLY)
  # A project's defaults for all targets do not apply here.
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11
    C_EXTENSIONS ON
    POSITION_INDEPENDENT_CODE ON
    UNITY_BUILD OFF
    INTERPROCEDURAL_OPTIMIZATION OFF
    COMPILE_WARNING_AS_ERROR OFF
    C_CLANG_TIDY ""
    C_INCLUDE_WHAT_YOU_USE ""
    C_CPPCHECK ""
    C_CPPLINT ""
    LINK_WHAT_YOU_USE OFF
    Fortran_MODULE_DIRECTORY ${folder}/modules)
  foreach(configuration IN LISTS CMAKE_BUILD_TYPE CMAKE_CONFIGURATION_TYPES)
    string(TOUPPER ${configuration} configuration)
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_${configuration} OFF)
  endforeach()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:Fortran>:${tally_fortran_options}>")
  target_include_directories(${target}
    PRIVATE $<$<COMPILE_LANGUAGE:C>:${folder}/include>
    PUBLIC $<BUILD_INTERFACE:${folder}/modules>)
endfunction()

# tally::fortran, with module tally.
function(tally_add_fortran sources)
  tally_add_fortran_library(tally_fortran ${sources})
  target_include_directories(tally_fortran PRIVATE ${sources}/include)
  target_link_libraries(tally_fortran PUBLIC tally::tally)
  set_target_properties(tally_fortran PROPERTIES EXPORT_NAME fortran)
  add_library(tally::fortran ALIAS tally_fortran)
endfunction()

# tally::fortran_mpi, with module tally_mpi. MPI libraries share no ABI, so users compile it, with the MPI found for C
# and Fortran and its modules.
function(tally_add_fortran_mpi sources)
  tally_add_fortran_library(tally_fortran_mpi ${sources}/mpi)
  target_include_directories(tally_fortran_mpi PRIVATE ${sources}/include)
  target_link_libraries(tally_fortran_mpi PUBLIC tally::fortran MPI::MPI_C MPI::MPI_Fortran)
  add_library(tally::fortran_mpi ALIAS tally_fortran_mpi)
endfunction()
