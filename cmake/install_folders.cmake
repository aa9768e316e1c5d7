# Folders of an installation, from GNUInstallDirs and the user.
include(GNUInstallDirs)

# Sets a variable to a folder in CMAKE_INSTALL_<NAME>, which may be relative, absolute, empty or contain "..", in the
# one form that all of install() takes: relative to the prefix if inside, otherwise absolute.
function(tally_install_folder variable name)  # optional: a subfolder
  get_filename_component(prefix ${CMAKE_INSTALL_PREFIX} ABSOLUTE)
  get_filename_component(folder ${CMAKE_INSTALL_FULL_${name}}/${ARGV2} ABSOLUTE)
  file(RELATIVE_PATH relative ${prefix} ${folder})
  if(relative STREQUAL "")
    set(folder .)
  elseif(NOT relative MATCHES "^\\.\\.(/|$)")
    set(folder ${relative})
  endif()
  set(${variable} ${folder} PARENT_SCOPE)
endfunction()

tally_install_folder(TALLY_LIBRARY_FOLDER LIBDIR)
tally_install_folder(TALLY_HEADER_FOLDER INCLUDEDIR)
tally_install_folder(TALLY_PROGRAM_FOLDER LIBEXECDIR tally)
tally_install_folder(TALLY_PACKAGE_FOLDER LIBDIR cmake/tally)
tally_install_folder(TALLY_PKGCONFIG_FOLDER LIBDIR pkgconfig)
tally_install_folder(TALLY_FORTRAN_FOLDER DATADIR tally/fortran)
tally_install_folder(TALLY_LICENSE_FOLDER DATADIR licenses/tally)
