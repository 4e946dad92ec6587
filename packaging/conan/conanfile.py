"""The Conan 2 recipe of redlock. It packs the clone that it is in, or a release whose sources
conandata.yml names: see README.md beside it."""

import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir

SOURCES = ["CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"]


class RedlockConan(ConanFile):
    name = "redlock"
    license = "BSL-1.0"
    description = "Distributed locks on independent Redis nodes, as C++20 coroutines"
    topics = ("redis", "redlock", "distributed-lock", "asio", "coroutines")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "tls": [True, False],
        "tool": [True, False],
    }
    default_options = {"shared": False, "fPIC": True, "tls": True, "tool": True}
    implements = ["auto_shared_fpic"]

    @property
    def clone(self):
        return pathlib.Path(self.recipe_folder).parent.parent

    @property
    def released(self):
        return bool(self.conan_data)

    def set_version(self):
        if self.version:  # As with --version, which a release needs.
            return
        text = (self.clone / "CMakeLists.txt").read_text("utf-8")
        self.version = re.search(r"^project\(redlock\s+VERSION (\S+)", text, re.M)[1]

    def export_sources(self):
        if self.released:
            return
        for pattern in SOURCES:
            copy(self, pattern, src=self.clone, dst=self.export_sources_folder)

    def source(self):
        if self.released:
            get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def requirements(self):
        # The public headers include Boost. OpenSSL is behind them.
        self.requires("boost/[>=1.83 <2]", transitive_headers=True, options={"header_only": True})
        if self.options.tls:
            self.requires("openssl/[>=3 <4]")
        if self.options.tool:
            self.requires("cli11/[>=2.1 <3]", visible=False)

    def validate(self):
        if self.settings.os not in ("Linux", "Macos", "Windows"):
            raise ConanInvalidConfiguration("redlock is for Linux, macOS and Windows")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["REDLOCK_BUILD_TESTS"] = False
        toolchain.cache_variables["REDLOCK_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["REDLOCK_TLS"] = bool(self.options.tls)
        toolchain.cache_variables["REDLOCK_BUILD_TOOL"] = bool(self.options.tool)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder, "licenses"))
        # Conan writes the files for CMake and pkg-config itself, for where it keeps the package.
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, pathlib.Path(self.package_folder, folder))

    def package_info(self):
        # Not redlock::redlock, which is a part: Conan would add the other part to it.
        self.cpp_info.set_property("cmake_target_name", "redlock::all")

        needed = ["boost::headers"]
        if self.options.tls:
            needed += ["openssl::ssl", "openssl::crypto"]
        system = ["pthread"]
        if self.settings.os == "Windows":
            system = ["ws2_32", "mswsock", "bcrypt", "crypt32"]
        redlock = self.cpp_info.components["redlock"]
        redlock.libs = ["redlock"]
        redlock.requires = needed
        redlock.system_libs = system
        if self.settings.os == "Windows":
            redlock.defines = ["_WIN32_WINNT=0x0A00"]
            if self.options.shared:
                redlock.defines.append("REDLOCK_USES_DLL")

        # Beside a shared library, which hides its inside, it brings one of its own.
        testing = self.cpp_info.components["testing"]
        testing.libs = ["redlock_testing"]
        testing.requires = needed if self.options.shared else ["redlock"]
        testing.system_libs = system
        if self.settings.os == "Windows":
            testing.defines = ["_WIN32_WINNT=0x0A00"]
