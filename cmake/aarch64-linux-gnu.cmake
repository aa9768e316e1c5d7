# Toolchain: Debian's cross compiler for ARM (AArch64), and QEMU's user-mode emulation for programs. Dependencies -
# Highway, GoogleTest, MPFR, zlib for ARM - are in TALLY_SYSROOT; `tests/run --arm` fills build/arm/sysroot.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(TALLY_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm/sysroot CACHE PATH "Libraries for ARM")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TALLY_SYSROOT)
# The compiler's libraries, also OpenMP's, lie in the other two.
set(CMAKE_FIND_ROOT_PATH ${TALLY_SYSROOT} /usr/aarch64-linux-gnu /usr/lib/gcc-cross/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# C library and OpenMP come from the cross compiler, and must not lie in TALLY_SYSROOT too: a program that loads two C
# libraries hangs.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=${TALLY_SYSROOT}/usr/lib/aarch64-linux-gnu)
