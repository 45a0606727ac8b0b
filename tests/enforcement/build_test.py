"""Plants a call upwards and a header that lacks an include; both builds must fail.

The planted project uses the real cmake/layer.cmake with two small layers of its own.
"""

import os
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE, COMPILER = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)

LISTS = f"""cmake_minimum_required(VERSION 3.25)
project(planted LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
add_library(berth_flags INTERFACE)
include("{SOURCE}/cmake/layer.cmake")
berth_layer(NAME base RANK 0 PURE)
berth_layer(NAME model RANK 1 DEPS base)
"""
SOUND = {
    "src/base/text.h": "#pragma once\n#include <string>\nnamespace base { std::string text(); }\n",
    "src/base/text.cc": '#include "base/text.h"\n'
                        'namespace base { std::string text() { return "base"; } }\n',
    "src/model/noun.h": "#pragma once\nnamespace model { int noun(); }\n",
    "src/model/noun.cc": '#include "model/noun.h"\n#include "base/text.h"\n'
                         "namespace model { int noun() { return int(base::text().size()); } }\n",
}
# Reaches a higher rank without including it, which only a linker can see.
CALL_UPWARDS = ("namespace model { int noun(); }\n"
                "namespace base { int upwards() { return model::noun(); } }\n")
# Compiles wherever somebody has included <vector> before.
LACKING_HEADER = "#pragma once\nnamespace base { std::vector<int> row(); }\n"


class Build(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.folder = self.held.name
        self.write("CMakeLists.txt", LISTS)
        for path, text in SOUND.items():
            self.write(path, text)

    def tearDown(self):
        self.held.cleanup()

    def write(self, path, text):
        whole = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)

    def build(self, target):
        build = self.folder + "/build"
        configured = subprocess.run(
            [CMAKE, "-G", "Ninja", "-S", self.folder, "-B", build,
             f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_CXX_FLAGS=-O0"],
            capture_output=True, text=True, check=False)
        self.assertEqual(configured.returncode, 0, configured.stdout + configured.stderr)
        done = subprocess.run([CMAKE, "--build", build, "--target", target],
                              capture_output=True, text=True, check=False)
        return done.returncode == 0, done.stdout + done.stderr

    def test_sound_layers_pass_both(self):
        for target in ("link_tests", "all_verify_interface_header_sets"):
            passed, said = self.build(target)
            self.assertTrue(passed, said)

    def test_a_call_upwards_does_not_link(self):
        self.write("src/base/upwards.cc", CALL_UPWARDS)
        passed, said = self.build("base_link_test")
        self.assertFalse(passed, said)
        self.assertIn("model::noun", said)

    def test_a_header_that_lacks_an_include_does_not_compile(self):
        self.write("src/base/lacking.h", LACKING_HEADER)
        passed, said = self.build("all_verify_interface_header_sets")
        self.assertFalse(passed, said)
        self.assertIn("lacking.h", said)


if __name__ == "__main__":
    unittest.main()
