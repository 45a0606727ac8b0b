"""Feeds the determinism check with planted programs: steady, unsteady, shuffled, without it."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv.pop(1)

HELP = 'if [ "$2" = --help ]; then echo "%s"; exit 0; fi\n'
STEADY = HELP % "--digest --shuffle" + 'for last; do :; done; cksum < "$last"\n'
UNSTEADY = HELP % "--digest" + "echo plan $$\n"
ZONED = HELP % "--digest" + 'echo "plan $TZ"\n'
ORDERED = HELP % "--digest --shuffle" + 'case "$*" in *--shuffle*) echo b;; *) echo a;; esac\n'
SILENT = HELP % "--digest" + "exit 0\n"
WITHOUT = 'echo "unknown role scenario" >&2; exit 2\n'


def check(program, scenarios=1):
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "program")
        with open(binary, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + program)
        os.chmod(binary, 0o755)
        os.mkdir(folder + "/scenarios")
        for number in range(scenarios):
            with open(f"{folder}/scenarios/s{number}.txt", "w", encoding="utf-8") as file:
                file.write("at 0s  submit w1\n")
        done = subprocess.run([sys.executable, "-B", CHECK, binary, folder + "/scenarios"],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class Determinism(unittest.TestCase):
    def test_steady_plans_pass(self):
        self.assertEqual(check(STEADY, 2), (0, "2 scenarios decide the same in every run\n"))

    def test_a_process_id_in_a_plan_is_found(self):
        code, said = check(UNSTEADY)
        self.assertEqual(code, 1)
        self.assertIn("s0.txt: the first run and a second process differ", said)

    def test_a_time_zone_in_a_plan_is_found(self):
        self.assertEqual(check(ZONED)[0], 1)

    def test_an_order_of_filling_in_a_plan_is_found(self):
        code, said = check(ORDERED)
        self.assertEqual(code, 1)
        self.assertIn("another filling order", said)

    def test_silence_is_not_agreement(self):
        self.assertEqual(check(SILENT)[0], 1)

    def test_nothing_to_compare_is_not_agreement(self):
        self.assertEqual(check(WITHOUT)[0], 1)
        self.assertEqual(check(STEADY, 0)[0], 1)


if __name__ == "__main__":
    unittest.main()
