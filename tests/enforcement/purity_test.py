"""Compiles planted impurities; tools/purity must find each, and must pass what is clean."""

import os
import subprocess
import sys
import tempfile
import unittest

PURITY, COMPILER, NM = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)

CLEAN = """#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
std::string joined(const std::map<std::string, long>& amounts) {
  std::string out;
  for (const auto& [name, amount] : amounts) out += name + std::to_string(amount);
  if (out.empty()) { std::fprintf(stderr, "empty\\n"); std::abort(); }
  return out;
}
struct Clock { long time() const; };
long read_time(const Clock& clock) { return clock.time(); }
"""
PLANTED = {
    "clock::now": "#include <chrono>\nlong f() { return "
                  "std::chrono::steady_clock::now().time_since_epoch().count(); }",
    "needs time;": "#include <ctime>\nlong f() { return std::time(nullptr); }",
    "random_device": "#include <random>\nunsigned f() { return std::random_device{}(); }",
    "getenv": '#include <cstdlib>\nconst char* f() { return std::getenv("HOME"); }',
    "fopen": '#include <cstdio>\nvoid* f() { return std::fopen("x", "r"); }',
    "ifstream": '#include <fstream>\nbool f() { return std::ifstream("x").good(); }',
    "socket": "#include <sys/socket.h>\nint f() { return socket(1, 1, 0); }",
    "thread": "#include <thread>\nvoid f() { std::thread([] {}).join(); }",
    "pthread_mutex_lock": "#include <mutex>\nstd::mutex m;\nvoid f() { m.lock(); }",
    "puts": '#include <cstdio>\nvoid f() { std::printf("hello\\n"); }',
    "std::cout": '#include <iostream>\nvoid f() { std::cout << "hello"; }',
}


def check(source):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/planted.cc", "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([COMPILER, "-std=c++20", "-O1", "-c", "planted.cc", "-o", "planted.o"],
                       cwd=folder, check=True)
        subprocess.run(["ar", "rcs", "libplanted.a", "planted.o"], cwd=folder, check=True)
        return subprocess.run([sys.executable, "-B", PURITY, "--nm", NM,
                               os.path.join(folder, "libplanted.a")],
                              capture_output=True, text=True, check=False)


class Purity(unittest.TestCase):
    def test_a_clean_archive_passes(self):
        done = check(CLEAN)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_planted_impurity_is_found(self):
        for symbol, source in PLANTED.items():
            with self.subTest(symbol):
                done = check(source)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(symbol, done.stdout)


if __name__ == "__main__":
    unittest.main()
