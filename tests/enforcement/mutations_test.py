"""Feeds the check of planted bugs with bugs that no longer find their place."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv.pop(1)

SOURCE = "if (left < 0) return;\n++left;\nif (left > 9) return;\n"
BUG = "class: A kind\nfile: src/a.cc\n--- old\n{}--- new\n{}--- end\n"


def check(**bugs):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for part in ("tools", "src", "tests/mutations"):
            (root / part).mkdir(parents=True)
        shutil.copy(CHECK, root / "tools/mutations")
        (root / "src/a.cc").write_text(SOURCE)
        for name, text in bugs.items():
            (root / f"tests/mutations/{name}.txt").write_text(text)
        done = subprocess.run([sys.executable, "-B", root / "tools/mutations", "--check"],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class Mutations(unittest.TestCase):
    def test_a_bug_that_finds_its_place_passes(self):
        self.assertEqual(check(good=BUG.format("++left;\n", "--left;\n")),
                         (0, "mutations: 1 of 1 find their place\n"))

    def test_code_that_is_gone_is_found(self):
        code, said = check(gone=BUG.format("++right;\n", ""))
        self.assertEqual(code, 1)
        self.assertIn("gone: src/a.cc has 0 such places", said)

    def test_code_that_stands_twice_is_found(self):
        code, said = check(twice=BUG.format(") return;\n", ") {}\n"))
        self.assertEqual(code, 1)
        self.assertIn("twice: src/a.cc has 2 such places", said)

    def test_a_file_that_is_gone_is_found(self):
        code, said = check(moved=BUG.format("++left;\n", "").replace("a.cc", "b.cc"))
        self.assertEqual(code, 1)
        self.assertIn("moved: there is no src/b.cc", said)

    def test_a_bug_that_changes_nothing_is_found(self):
        code, said = check(same=BUG.format("++left;\n", "++left;\n"))
        self.assertEqual(code, 1)
        self.assertIn("same: it changes nothing", said)

    def test_no_bugs_at_all_are_found(self):
        self.assertEqual(check()[0], 1)


if __name__ == "__main__":
    unittest.main()
