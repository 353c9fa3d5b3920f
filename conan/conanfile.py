"""Conan 2 recipe of specdec. In Debian 12, without a remote:

    conan create conan --no-remote -pr:a conan/profiles/debian12
"""
import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy
from conan.tools.scm import Version


class SpecdecConan(ConanFile):
    name = "specdec"
    description = "Speculative decoding across tokenizers, header-only C++20"
    license = "MIT"
    topics = ("speculative-decoding", "language-model", "header-only")

    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True
    options = {f"with_{part}": [True, False]
               for part in ("vocab", "eigen", "xtensor", "reference_transformer", "llama_cpp",
                            "openvino", "engine")}
    default_options = {"with_vocab": True, "with_eigen": False, "with_xtensor": False,
                       "with_reference_transformer": False,  # includes eigen and xtensor
                       "with_llama_cpp": False, "with_openvino": False,
                       "with_engine": False}  # with its training; includes vocab, eigen and xtensor

    options["with_reference"] = [True, False]  # what with_engine was called
    default_options["with_reference"] = False

    # g++ 12 and clang 16 are what the library is tested with; clang 14 and 15 refuse libstdc++'s
    # range concepts.
    compilers = {"gcc": "12", "clang": "16"}

    def set_version(self):
        root = (Path(self.recipe_folder).parent / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(specdec VERSION ([0-9.]+)", root).group(1)

    def export_sources(self):
        root = Path(self.recipe_folder).parent
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "engine/CMakeLists.txt",
                        "engine/include/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        engine = self.options.with_engine
        public = {"transitive_headers": True}
        if engine or self.options.with_vocab:
            self.requires("boost/[>=1.81 <2]", **public)
        reference = self.options.with_reference_transformer
        if engine or reference or self.options.with_eigen:
            self.requires("eigen/[>=3.4 <6]", **public)
        if engine or reference or self.options.with_xtensor:
            self.requires("xtensor/[>=0.24 <1]", **public)
        if self.options.with_llama_cpp:
            self.requires("llama-cpp/[*]", **public)  # numbered by builds: b6700 or newer
        if self.options.with_openvino:
            self.requires("openvino/[>=2025 <2027]", **public)
        if reference:
            self.requires("range-v3/[>=0.12 <1]", **public)
        if engine or reference:
            self.requires("nlohmann_json/[>=3.11 <4]", **public)
        if engine:
            self.requires("pcre2/[>=10.42 <11]", **public)
            self.requires("utf8proc/[>=2.8 <3]", **public)

    def validate(self):
        if self.options.with_reference:
            raise ConanInvalidConfiguration("the option 'with_reference' is called 'with_engine', and its headers "
                                            "<specdec_engine/...>")
        check_min_cppstd(self, 20)
        compiler = str(self.settings.compiler)
        least = self.compilers.get(compiler)
        if least and Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration(f"specdec needs {compiler} {least} or newer")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        for part in ("TESTS", "BENCHMARKS", "EXAMPLES"):
            toolchain.cache_variables[f"SPECDEC_BUILD_{part}"] = False
        # Nothing is compiled here, so no package is looked for: whoever links a part does that.
        toolchain.cache_variables["SPECDEC_COMPONENTS"] = ""
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        # The installed specdec-config.cmake serves Conan's users like all others.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/specdec"]
