from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.python import PythonExtension

from spack.package import *


class Tally(CMakePackage, CudaPackage, PythonExtension):
    """Memory-bound kernels for HPC codes (dot products and reductions, element-wise maps,
    histograms, sparse matrix times vector) with the same bits on every backend."""

    # The clone that contains this recipe: Spack builds its commits. In another repository of packages the project's
    # address stands here.
    git = Path(__file__).resolve().parents[5].as_uri()
    homepage = git

    license("BSD-3-Clause")

    # A release is a commit with its version in CMakeLists.txt: checked by scripts/lint.
    version("main", branch="main")
    version("0.2.0", commit="7a458662524821f29dada29a5d762fd83747c5d1")

    variant("shared", default=True, description="Build a shared library")
    variant("openmp", default=True, description="Build the OpenMP backend")
    variant("kokkos", default=False, description="Build the Kokkos backend")
    variant("zlib", default=True, description="Read compressed Matrix Market files")
    variant("mpi", default=False, description="Bring MPI along, for calls over ranks")
    variant("nccl", default=False, when="+cuda", description="Bring NCCL along, for calls over several GPUs")
    variant("fortran", default=False, description="Build the Fortran module")
    variant("python", default=False, when="@0.3:", description="Build the Python package")
    variant("blas", default=False, when="@0.3:", description="Provide BLAS and LAPACK: Tally's level one before OpenBLAS")
    variant("benchmarks", default=False, when="+openmp", description="Install the comparison, libexec/tally/run")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type=("build", "test"))
    depends_on("highway@1.0.3:", type="build")  # templates alone
    depends_on("zlib-api", when="+zlib")
    depends_on("mpi", when="+mpi")
    depends_on("benchmark", when="+benchmarks", type="build")
    depends_on("googletest", type="test")
    depends_on("mpfr", type="test")
    depends_on("python", type="test")

    extends("python@3.10:", when="+python")
    depends_on("py-nanobind@2.4:", when="+python", type="build")
    depends_on("py-numpy@2:", when="+python", type=("build", "run"))

    # BLAS and LAPACK are those of OpenBLAS but for Tally's routines, which the linker finds first. Both, so that no
    # program links OpenBLAS's LAPACK, and with it OpenBLAS's level one, before Tally's.
    depends_on("openblas", when="+blas")
    provides("blas", "lapack", when="+blas")

    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl@2.18:", when="+nccl")
    # Kokkos compiled so that Tally can use it.
    depends_on("kokkos@3.7: +pic", when="+kokkos")
    depends_on("kokkos ~cuda", when="+kokkos~cuda")
    depends_on("kokkos@4: +cuda+cmake_lang", when="+kokkos+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+kokkos+cuda cuda_arch={arch}")
        depends_on(f"nccl cuda_arch={arch}", when=f"+nccl cuda_arch={arch}")

    conflicts("+ipo", msg="Optimisation across sources could change bits")
    conflicts("%gcc@:11", msg="Tally needs C++20: g++ 12 or newer")
    conflicts("%clang@:13", msg="Tally needs C++20: clang 14 or newer")

    test_requires_compiler = True

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TALLY_BUILD_BENCH", "benchmarks"),
            self.define_from_variant("TALLY_BUILD_BLAS", "blas"),
            self.define("TALLY_BUILD_EXAMPLES", False),
            self.define("TALLY_BUILD_TESTS", self.run_tests),
        ]
        for feature in ("openmp", "cuda", "kokkos", "zlib", "mpi", "nccl", "fortran"):
            args.append(self.define_from_variant(f"TALLY_ENABLE_{feature.upper()}", feature))
        if self.spec.satisfies("+mpi"):
            args.append(self.define("MPI_HOME", self.spec["mpi"].prefix))
        # Tally's default is every generation since Turing.
        if self.spec.satisfies("+cuda") and not self.spec.satisfies("cuda_arch=none"):
            architectures = self.spec.variants["cuda_arch"].value
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return args

    @property
    def blas_libs(self):
        return find_libraries("libtally_blas", self.prefix, recursive=True) + self.spec["openblas"].libs

    lapack_libs = blas_libs

    @run_after("install", when="+python")
    def install_python(self):
        """Build bindings/python against the library that was installed just now."""
        cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
        with working_dir(join_path(self.stage.path, "spack-build-python"), create=True):
            cmake(
                join_path(self.stage.source_path, "bindings", "python"),
                self.define("CMAKE_BUILD_TYPE", "Release"),
                self.define("CMAKE_INSTALL_PREFIX", python_platlib),
                self.define("CMAKE_PREFIX_PATH", [self.prefix]),
                self.define("Python_EXECUTABLE", python.path),
                self.define("TALLY_PYTHON_USE_INSTALLED", True),
            )
            cmake("--build", ".")
            cmake("--install", ".")

    @run_after("install")
    def cache_client(self):
        cache_extra_test_sources(self, ["tests/install", "tests/golden.hpp", "tests/fortran"])

    def build_and_run(self, project, *options):
        """Returns the output of a client in tests/install."""
        sources = join_path(self.test_suite.current_test_cache_dir, "tests", "install", project)
        cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
        prefixes = [d.prefix for d in self.spec.traverse(root=True, deptype=("link", "run"))]
        with working_dir(project, create=True):
            cmake(
                sources,
                self.define("CMAKE_C_COMPILER", self.compiler.cc),
                self.define("CMAKE_CXX_COMPILER", self.compiler.cxx),
                self.define("CMAKE_PREFIX_PATH", prefixes),
                *options,
            )
            cmake("--build", ".")
            return which("./client", required=True)(output=str.split, error=str.split)

    def test_client(self):
        """compile and run a program that finds the installed package: do its bits agree?"""
        output = self.build_and_run("package")
        # A build machine for a GPU may have none.
        built = ["serial", "simd"] + [v for v in ("openmp", "kokkos") if self.spec.satisfies("+" + v)]
        assert [name for name in built if name not in output] == []

    def test_imports(self):  # in place of PythonExtension's, which has a Python in any case
        """import the package and sum"""
        if not self.spec.satisfies("+python"):
            raise SkipTest("without python")
        self.module.python("-c", "import tally; assert tally.sum([.1] * 10, exact=True) == 1")

    def test_blas(self):
        """link a program with BLAS: has its dot product Tally's bits?"""
        if not self.spec.satisfies("+blas"):
            raise SkipTest("without blas")
        source = join_path(self.test_suite.current_test_cache_dir, "tests", "install", "blas.c")
        rpaths = [f"-Wl,-rpath,{folder}" for folder in self.blas_libs.directories]
        which(self.compiler.cc, required=True)(source, "-o", "client", *self.blas_libs.ld_flags.split(), *rpaths)
        assert "Tally's bits" in which("./client", required=True)(output=str.split, error=str.split)

    def test_mpi(self):
        """compile a program over ranks, and run it on one"""
        if not self.spec.satisfies("+mpi"):
            raise SkipTest("without mpi")
        self.build_and_run("mpi", self.define("MPI_HOME", self.spec["mpi"].prefix))

    def test_fortran(self):
        """compile and run a program that uses the module"""
        if not self.spec.satisfies("+fortran"):
            raise SkipTest("without fortran")
        self.build_and_run(
            "fortran",
            self.define("CMAKE_Fortran_COMPILER", self.compiler.fc),
            self.define("FROM_SOURCE", False),
        )

    def test_fortran_mpi(self):
        """compile a program that uses the module over ranks, and run it on one"""
        if not self.spec.satisfies("+fortran+mpi"):
            raise SkipTest("without fortran and mpi")
        self.build_and_run(
            "fortran_mpi",
            self.define("CMAKE_Fortran_COMPILER", self.compiler.fc),
            self.define("MPI_HOME", self.spec["mpi"].prefix),
        )
