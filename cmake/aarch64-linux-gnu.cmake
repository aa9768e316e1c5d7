# Toolchain: Debian's cross compiler for ARM (AArch64), and QEMU's user-mode emulation to run what it
# makes. What else a program needs - Highway, GoogleTest, MPFR, zlib for ARM - is in a folder of its
# own, TALLY_SYSROOT; `tests/run --arm` fills build/arm/sysroot.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(TALLY_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm/sysroot CACHE PATH "Libraries for ARM")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TALLY_SYSROOT)
# The compiler's own libraries lie in the other two: OpenMP's among them.
set(CMAKE_FIND_ROOT_PATH ${TALLY_SYSROOT} /usr/aarch64-linux-gnu /usr/lib/gcc-cross/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# The C library and OpenMP come from the cross compiler. They must not lie in TALLY_SYSROOT as well: a
# program that loads two C libraries hangs.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=${TALLY_SYSROOT}/usr/lib/aarch64-linux-gnu)
