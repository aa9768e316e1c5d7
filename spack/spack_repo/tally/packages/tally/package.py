from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Tally(CMakePackage, CudaPackage):
    """Memory-bound kernels for HPC codes (dot products and reductions, element-wise maps,
    histograms, sparse matrix times vector) with the same bits on every backend."""

    # The repository that this recipe lies in: Spack builds what is committed there.
    git = Path(__file__).resolve().parents[5].as_uri()
    homepage = git

    license("BSD-3-Clause")

    # A release is the commit with its tag; project() in CMakeLists.txt says the same number.
    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("shared", default=True, description="Build a shared library")
    variant("openmp", default=True, description="Build the OpenMP backend")
    variant("kokkos", default=False, description="Build the Kokkos backend")
    variant("fortran", default=False, description="Build the Fortran module")
    variant("zlib", default=True, description="Read compressed Matrix Market files")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type=("build", "test"))
    depends_on("highway@1.0.3:", type="build")  # templates alone
    depends_on("kokkos@3.7: +pic", when="+kokkos")
    depends_on("zlib-api", when="+zlib")
    depends_on("cuda@12:", when="+cuda")
    depends_on("googletest", type="test")

    conflicts("%gcc@:11", msg="Tally needs C++20: g++ 12 or newer")
    conflicts("%clang@:13", msg="Tally needs C++20: clang 14 or newer")

    test_requires_compiler = True

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TALLY_ENABLE_OPENMP", "openmp"),
            self.define_from_variant("TALLY_ENABLE_KOKKOS", "kokkos"),
            self.define_from_variant("TALLY_ENABLE_CUDA", "cuda"),
            self.define_from_variant("TALLY_ENABLE_ZLIB", "zlib"),
            self.define_from_variant("TALLY_ENABLE_FORTRAN", "fortran"),
            self.define("TALLY_BUILD_TESTS", self.run_tests),
        ]
        # Without a choice Tally takes its own: every generation since Turing.
        if self.spec.satisfies("+cuda") and not self.spec.satisfies("cuda_arch=none"):
            architectures = self.spec.variants["cuda_arch"].value
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return args

    @run_after("install")
    def cache_client(self):
        cache_extra_test_sources(self, ["tests/install", "tests/golden.hpp"])

    def test_client(self):
        """compile and run a program that finds the installed package: do its bits agree?"""
        sources = join_path(self.test_suite.current_test_cache_dir, "tests", "install", "package")
        cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
        prefixes = [d.prefix for d in self.spec.traverse(root=True, deptype=("link", "run"))]
        with working_dir("client", create=True):
            cmake(
                sources,
                self.define("CMAKE_CXX_COMPILER", self.compiler.cxx),
                self.define("CMAKE_PREFIX_PATH", prefixes),
            )
            cmake("--build", ".")
            client = which("./client", required=True)
            output = client(output=str.split, error=str.split)
        # A machine that builds for a GPU may have none to run on.
        built = ["serial", "simd"] + [v for v in ("openmp", "kokkos") if self.spec.satisfies("+" + v)]
        assert [name for name in built if name not in output] == []
