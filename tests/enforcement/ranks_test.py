"""A table that breaks the ranks must not configure; a sound one must."""

import os
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = sys.argv.pop(1), sys.argv.pop(1)


def configure(table):
    """Configures a project that is only the table; returns (succeeded, what it said)."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.25)\nproject(planted LANGUAGES NONE)\n"
                       f'include("{SOURCE}/cmake/layer.cmake")\n{table}')
        done = subprocess.run([CMAKE, "-G", "Ninja", "-S", folder, "-B", folder + "/build"],
                              capture_output=True, text=True, check=False)
        return done.returncode == 0, " ".join((done.stdout + done.stderr).split())


class Ranks(unittest.TestCase):
    def test_a_sound_table_configures(self):
        passed, said = configure("berth_layer(NAME base RANK 0 PURE)\n"
                                 "berth_layer(NAME model RANK 1 DEPS base)\n")
        self.assertTrue(passed, said)

    def test_an_equal_rank_is_refused(self):
        passed, said = configure("berth_layer(NAME base RANK 0)\n"
                                 "berth_layer(NAME serving RANK 3 DEPS base)\n"
                                 "berth_layer(NAME governance RANK 3 DEPS base serving)\n")
        self.assertFalse(passed)
        self.assertIn("governance (rank 3) may not depend on serving (rank 3)", said)

    def test_a_higher_rank_is_refused(self):
        passed, said = configure("berth_layer(NAME platform RANK 6)\n"
                                 "berth_layer(NAME model RANK 1 DEPS platform)\n")
        self.assertFalse(passed)
        self.assertIn("model (rank 1) may not depend on platform (rank 6)", said)

    def test_an_undeclared_layer_is_refused(self):
        passed, said = configure("berth_layer(NAME model RANK 1 DEPS bse)\n")
        self.assertFalse(passed)
        self.assertIn("depends on bse, which no earlier row declares", said)

    def test_a_second_row_is_refused(self):
        passed, said = configure("berth_layer(NAME base RANK 0)\nberth_layer(NAME base RANK 1)\n")
        self.assertFalse(passed)
        self.assertIn("declared twice", said)


if __name__ == "__main__":
    unittest.main()
