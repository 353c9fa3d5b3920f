import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, get
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.12"


class SpecdecConan(ConanFile):
    name = "specdec"
    description = "Speculative decoding across tokenizers, header-only C++20"
    license = "MIT"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "@HOMEPAGE@"
    topics = ("speculative-decoding", "language-model", "inference", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_vocab": [True, False], "with_eigen": [True, False], "with_xtensor": [True, False]}
    default_options = {"with_vocab": True, "with_eigen": False, "with_xtensor": False}
    no_copy_source = True

    # Adapters whose packages are not in this index.
    _left_out = ["specdec/interop/llama_cpp*", "specdec/interop/openvino*"]

    @property
    def _min_compiler_version(self):
        return {"gcc": "12", "clang": "16"}

    def layout(self):
        basic_layout(self, src_folder="src")

    def requirements(self):
        if self.options.with_vocab:
            self.requires("boost/1.86.0", transitive_headers=True)
        if self.options.with_eigen:
            self.requires("eigen/3.4.0", transitive_headers=True)
        if self.options.with_xtensor:
            self.requires("xtensor/0.24.7", transitive_headers=True)

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        least = self._min_compiler_version.get(str(self.settings.compiler))
        if least and Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration(f"{self.ref} needs {self.settings.compiler} {least} or newer")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # With any options: one package serves them all (package_id).
        copy(self, "*", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"),
             excludes=self._left_out)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "specdec")
        # The same targets as of the CMake package that the sources install.
        self._component("specdec", [])
        if self.options.with_vocab:
            self._component("vocab", ["boost::headers"])
        if self.options.with_eigen:
            self._component("eigen", ["eigen::eigen"])
        if self.options.with_xtensor:
            self._component("xtensor", ["xtensor::xtensor"])

    def _component(self, name, packages):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"specdec::{name}")
        component.bindirs = []
        component.libdirs = []
        component.requires = ([] if name == "specdec" else ["specdec"]) + packages
