"""Plants one violation at a time in a small tree; tools/tidy must name each, and only it."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

TIDY = sys.argv.pop(1)

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("tidy", TIDY)
tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
loader.exec_module(tidy)

TABLE = """
# berth_layer(NAME ghost RANK 0) is only a comment
berth_layer(NAME base RANK 0 PURE LIBS fmt::fmt)
berth_layer(NAME model RANK 1 PURE DEPS base)
berth_layer(NAME serving RANK 3 PURE DEPS base model)
berth_layer(NAME governance RANK 3 PURE DEPS base)
berth_layer(NAME platform RANK 6 DEPS base LIBS Boost::headers)
berth_layer(NAME controller RANK 7 DEPS base model serving platform)
berth_layer(NAME backends_local FOLDER backends/local RANK 8 DEPS base controller)
berth_layer(NAME daemon RANK 9 DEPS base controller backends_local)
berth_layer(NAME testing SUPPORT RANK 9 DEPS base model LIBS GTest::gtest)
"""
# Everything here is allowed; each line is near to something that is not.
SOUND = {
    "src/base/text.h": "#pragma once\n#include <string>\n#define ASSERT(x) ((x) ? void() : "
                       "base::stop())\nnamespace base { void stop(); }\n",
    "src/model/noun.h": '#pragma once\n#include "base/text.h"\n'
                        "// A local machine's time() is not read here; nor is kube. \"getenv(\n"
                        "namespace model {\nstruct Noun {\n  long time() const;  // TODO" "(#12): "
                        "name the unit\n  const char* words = \"float std::thread(\";\n};\n}\n",
    "src/model/noun.cc": '#include "model/noun.h"\n#include "model/internal/table.h"\n'
                         "namespace model {\nlong Noun::time() const { return 1'000; }\n}\n",
    "src/model/internal/table.h": "#pragma once\n",
    "src/model/noun_test.cc": '#include "model/noun.h"\n#include "testing/builders.h"\n'
                              "#include <gtest/gtest.h>\ndouble shown = 0.5;\n",
    "src/platform/clock.cc": "#include <boost/asio.hpp>\n#include <chrono>\n"
                             "auto now() { return std::chrono::system_clock::now(); }\n",
    "src/daemon/daemon.cc": '#include "backends/local/local_backend.h"\n#include <cstdlib>\n'
                            'const char* home() { return std::getenv("HOME"); }\n',
    "src/backends/local/local_backend.h": '#pragma once\n#include "controller/loop.h"\n',
    "src/controller/loop.h": "#pragma once\n",
    "testing/builders.h": '#pragma once\n#include "model/noun.h"\n',
    "tests/backends/contract_test.cc": '#include "backends/local/local_backend.h"\n'
                                       '#include "testing/builders.h"\n',
}
LONG_BODY = "".join(f"  total += {n};\n" for n in range(70))
ROWS = "".join(f"  {{{n}, {n}}},\n" for n in range(200))

# name: (file, text, rule, piece of the message)
PLANTED = {
    "a higher rank": ("src/base/a.cc", '#include "model/noun.h"\n', "layer", "a higher rank"),
    "an equal rank": ("src/serving/a.cc", '#include "governance/b.h"\n', "layer", "the same rank"),
    "an equal rank in a test": ("src/serving/a_test.cc", '#include "governance/b.h"\n', "layer",
                                "the same rank"),
    "not on the list": ("src/governance/a.cc", '#include "model/noun.h"\n', "layer",
                        "not on the written list"),
    "private header": ("src/serving/a.cc", '#include "model/internal/table.h"\n', "layer",
                       "private to model/"),
    "written from the top": ("src/serving/a.cc", '#include "src/model/noun.h"\n', "layer",
                             "written from src/"),
    "written from here": ("src/model/a.cc", '#include "noun.h"\n', "layer", "in no layer"),
    "test support": ("src/model/a.cc", '#include "testing/builders.h"\n', "layer", "tests only"),
    "a folder without a row": ("src/ledger/a.cc", "\n", "layer", "no row"),
    "a library outside its adapter": ("src/model/a.cc", "#include <boost/json.hpp>\n", "layer",
                                      "not among the LIBS"),
    "a library that is not listed": ("src/controller/a.cc", "#include <sqlite3.h>\n", "layer",
                                     "not among the LIBS"),
    "an outside word": ("src/model/a.cc", "int kubelet_port;\n", "word", "kubelet_port"),
    "an outside word in a string": ("src/model/a.cc", 'auto s = "sqlite";\n', "word", "sqlite"),
    "a backend's name": ("src/model/a.cc", "struct LocalBackend;\n", "word", "LocalBackend"),
    "a pod": ("src/model/a.cc", "struct PodName;\n", "word", "PodName"),
    "a clock": ("src/model/a.cc", "auto t = std::chrono::steady_clock::now();\n", "call",
                "base::Instant"),
    "time": ("src/model/a.cc", "auto t = time(nullptr);\n", "call", "base::Instant"),
    "environment": ("src/model/a.cc", 'auto h = std::getenv("HOME");\n', "call", "environment"),
    "environment in the middle": ("src/controller/a.cc", 'auto h = getenv("HOME");\n', "call",
                                  "rank 9"),
    "rand": ("src/model/a.cc", "int r = rand();\n", "call", "base::Random"),
    "random_device": ("src/model/a.cc", "std::random_device d;\n", "call", "base::Random"),
    "unordered": ("src/model/a.cc", "std::unordered_map<int, int> m;\n", "call", "std::map"),
    "unordered header": ("src/model/a.cc", "#include <unordered_map>\n", "call", "std::map"),
    "float": ("src/model/a.cc", "double share;\n", "float", "std::int64_t"),
    "printf": ("src/model/a.cc", 'void f() { printf("x"); }\n', "call", "return the text"),
    "iostream": ("src/model/a.cc", "#include <iostream>\n", "call", "return the text"),
    "thread": ("src/model/a.cc", "std::thread t;\n", "call", "threads"),
    "sleep": ("src/model/a.cc", "void f() { usleep(3); }\n", "call", "sleeps"),
    "sleep above the bar": ("src/controller/a.cc", "void f() { sleep(3); }\n", "call", "timer"),
    "clock above the bar": ("src/controller/a.cc",
                            "auto t = std::chrono::system_clock::now();\n", "call", "platform/"),
    "regex": ("src/daemon/a.cc", "std::regex r;\n", "call", "parser"),
    "assert": ("src/daemon/a.cc", "void f() { assert(true); }\n", "call", "ASSERT"),
    "a log below the bar": ("src/model/a.cc", "void f() { LOG(info); }\n", "call", "explain"),
    "a macro": ("src/model/a.cc", "#define TWICE(x) ((x) * 2)\n", "macro", "TWICE"),
    "LOG below the bar": ("src/model/a.cc", "#define LOG 1\n", "macro", "LOG"),
    "a long function": ("src/daemon/a.cc", "int f(int total) {\n" + LONG_BODY +
                        "  return total;\n}\n", "size", "73 lines"),
    "a long member": ("src/daemon/a.h", "#pragma once\nnamespace daemon {\nclass A : public B {\n"
                      " public:\n  explicit A(int x) noexcept : B(x), a_{x}, b_(x) {\n"
                      "    int total = '{';\n" + LONG_BODY + "  }\n};\n}\n", "size", "73 lines"),
    "a long test": ("src/daemon/a_test.cc", "TEST(A, B) {\n" + LONG_BODY + "}\n", "size",
                    "72 lines"),
    "a long lambda": ("src/daemon/a.cc", "const auto f = [](int total) {\n" + LONG_BODY + "};\n",
                      "size", "72 lines"),
    "a long file": ("src/daemon/a.cc", "int a;\n" * 601, "size", "601 lines"),
    "a bag file": ("src/model/text_utils.cc", "\n", "name", "utils"),
    "a bag folder": ("src/model/common/a.cc", "\n", "name", "common"),
    "a bag class": ("src/daemon/a.cc", "class NodeManager;\n", "name", "NodeManager"),
    "a machine's path": ("docs/a.md", "see /wo" "rk/main/README.md\n", "path", "one machine"),
    "an address in a lock file": ("web/package-lock.json", '  "resolved": "http' 's://x/y.tgz",\n',
                                  "path", "lock file"),
    "something to do": ("src/model/a.cc", "// TO" "DO: later\n", "todo", "issue"),
    "something to fix": ("src/model/a.cc", "// FIX" "ME\n", "todo", "fix it now"),
    "a header that may come twice": ("src/model/a.h", "int a;\n", "header", "#pragma once"),
    "an excuse without a reason": ("src/model/a.cc", "float f;  // tidy: allow float\n", "float",
                                   "float"),
    "an excuse for a layer": ("src/base/a.cc", '#include "model/noun.h"  // tidy: allow layer '
                              "because it is near\n", "layer", "a higher rank"),
}
ALLOWED = {
    "a long table": ("src/daemon/a.cc", "constexpr Row kRows[] = {\n" + ROWS + "};\n"),
    "a long table in a call": ("src/daemon/a.cc", "constexpr auto kRows = std::to_array<Row>({\n" +
                               ROWS + "});\n"),
    "a long class": ("src/daemon/a.h", "#pragma once\nclass A {\n" + "  int f() { return 1; }\n" *
                     100 + "};\n"),
    "braces in text": ("src/daemon/a.cc", 'auto s = R"({{{)";\nauto t = "{{";  // {{\n' +
                       "int f() { return '{'; }\n" * 80),
    "an excuse with a reason": ("src/model/a.cc", "float f;  // tidy: allow float because it is "
                                "only shown\n"),
    "a backend above the bar": ("src/daemon/a.cc", "struct LocalBackend;\n"),
    "a lower rank in a test": ("src/governance/a_test.cc", '#include "model/noun.h"\n'),
}


def check(extra):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {"cmake/layers.cmake": TABLE, **SOUND, **extra}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return tidy.Tidy(root).run()


class TidyRules(unittest.TestCase):
    def test_a_sound_tree_has_no_findings(self):
        self.assertEqual(check({}), [])

    def test_each_planted_violation_is_named_alone(self):
        for name, (path, text, rule, piece) in PLANTED.items():
            with self.subTest(name):
                findings = check({path: text})
                self.assertEqual([(f[0], f[2]) for f in findings], [(path, rule)], findings)
                self.assertIn(piece, findings[0][3])

    def test_what_is_near_a_violation_is_allowed(self):
        for name, (path, text) in ALLOWED.items():
            with self.subTest(name):
                self.assertEqual(check({path: text}), [])

    def test_every_pure_layer_of_the_table_is_below_the_bar(self):
        root = os.path.dirname(os.path.dirname(os.path.abspath(TIDY)))
        for layer in tidy.read_layers(os.path.join(root, "cmake", "layers.cmake")):
            self.assertEqual(layer.pure, layer.rank < tidy.PURITY_BAR, layer.name)


if __name__ == "__main__":
    unittest.main()
