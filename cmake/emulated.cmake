# Toolchain: Debian's cross compiler for the processor TALLY_PROCESSOR (aarch64, ppc64le, riscv64, s390x), and QEMU's
# user-mode emulation for programs. Dependencies - Highway, MPFR, zlib for that processor - are in TALLY_SYSROOT;
# `tests/run --emulate` fills build/<processor>/sysroot.
if(NOT TALLY_PROCESSOR MATCHES "^(aarch64|ppc64le|riscv64|s390x)$")
  message(FATAL_ERROR
    "cmake/emulated.cmake compiles for the processor that TALLY_PROCESSOR names: aarch64, ppc64le, riscv64 or s390x "
    "(it is \"${TALLY_PROCESSOR}\"). The presets of these names set it.")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TALLY_PROCESSOR TALLY_SYSROOT)
string(REPLACE ppc64le powerpc64le tally_triplet ${TALLY_PROCESSOR}-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TALLY_PROCESSOR})
set(CMAKE_C_COMPILER ${tally_triplet}-gcc)
set(CMAKE_CXX_COMPILER ${tally_triplet}-g++)

set(TALLY_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/${TALLY_PROCESSOR}/sysroot CACHE PATH
  "Libraries for TALLY_PROCESSOR")
# The compiler's libraries, also OpenMP's, lie in the other two.
set(CMAKE_FIND_ROOT_PATH ${TALLY_SYSROOT} /usr/${tally_triplet} /usr/lib/gcc-cross/${tally_triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE ${tally_triplet})

# C library and OpenMP come from the cross compiler, and must not lie in TALLY_SYSROOT too: a program that loads two C
# libraries hangs.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${TALLY_PROCESSOR}-static -L /usr/${tally_triplet}
    -E LD_LIBRARY_PATH=${TALLY_SYSROOT}/usr/lib/${tally_triplet})
