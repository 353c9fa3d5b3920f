from pathlib import Path

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class SpecdecTestConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def parts(self):
        options = self.dependencies["specdec"].options
        return [part for part in ("vocab", "eigen", "xtensor", "reference_transformer", "llama_cpp", "openvino", "engine")
                if options.get_safe(f"with_{part}")]

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["PARTS"] = ";".join(self.parts())
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        for part in ["specdec"] + self.parts():
            program = Path(self.build_folder) / f"use_{part}"
            if not program.exists():
                raise ConanException(f"{program} was not built")
            self.run(str(program), env="conanrun")
