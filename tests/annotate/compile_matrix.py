#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles annotated C and C++ in every dialect that we promise, warnings as errors, and checks that
misuse does not compile, and that an older language is refused in one line:
compile_matrix.py INCLUDE_DIR SOURCE_DIR"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion",
            "-Wcast-qual", "-Wundef", "-Werror"]
C_WARNINGS = WARNINGS + ["-Wstrict-prototypes"]
CXX_WARNINGS = WARNINGS + ["-Wold-style-cast", "-Wzero-as-null-pointer-constant", "-Wextra-semi",
                           "-Wnon-virtual-dtor"]
GCC_WARNINGS = ["-Wuseless-cast", "-Wlogical-op", "-Wduplicated-cond", "-Wmultistatement-macros"]
C_COMPILERS = ["gcc", "clang", "clang-14", "clang-15", "clang-16", "clang-19"]
CXX_COMPILERS = [name.replace("gcc", "g++").replace("clang", "clang++") for name in C_COMPILERS]
C_DIALECTS = ["c11", "gnu11", "c17", "c2x"]
CXX_DIALECTS = ["c++17", "gnu++17", "c++20", "c++2b"]

# What must not compile -> the function body that tries it.
MISUSE = {
    "a macro with a name that is no literal": 'const char* name = "x"; GPUBOUND_OPERATION(name);',
    "a layer that does not exist": "GPUBOUND_LAYER(gpu);",
    "a copy of a scope": 'gpubound::Operation a("x"); gpubound::Operation b = a;',
    "a scope that closes at once": 'gpubound::Operation("x");',
    "a branch without braces": 'extern bool first; if (first) GPUBOUND_OPERATION("x");',
    "a coroutine's scope as a loop": 'while (false) GPUBOUND_COROUTINE_OPERATION("x");',
    "a loop without braces": 'for (int i = 0; i < 2; ++i) GPUBOUND_LAYER(wait);',
}

# Programs whose own classes hold a scope, with which compilers may find fault: dialect -> text.
HOLDERS = {
    "c++17": """
#include <gpubound/annotate.h>
#include <memory>
#include <optional>
struct Job { gpubound::Operation operation{"job"}; int turns = 0; };
struct Episode { std::optional<gpubound::Annotation> turn; void Begin() { turn.emplace("turn"); } };
int Run() {
  Job job;
  Episode episode;
  episode.Begin();
  auto held = [scope = std::make_unique<gpubound::Operation>("x")] { (void)scope; };
  held();
  return job.turns;
}
#define wait hostile(
#define native 7
#define simulator() x
constexpr int Next(int value) {
  GPUBOUND_FUNCTION();
  GPUBOUND_PHASE("phase");
  GPUBOUND_LAYER(wait);
  {
    GPUBOUND_OPERATION("inner");
    GPUBOUND_LAYER(native);
    GPUBOUND_STEP(value);
  }
  GPUBOUND_LAYER(simulator);
  GPUBOUND_COUNTER("value", 2.0);
  return value + 1;
}
static_assert(Next(1) == 2);
template <typename T>
constexpr T Last(T value) {
  GPUBOUND_OPERATION("outer");
  if (value != T{}) {
    GPUBOUND_ANNOTATION("turn");
    return Last(static_cast<T>(value - 1));
  }
  return value;
}
static_assert(Last(3) == 0);
static_assert([](auto x) { GPUBOUND_OPERATION("lambda"); return x; }(3) == 3);
static_assert(GPUBOUND_VERSION_NUMBER >= 100);
""",
    "c++20": """
#include <gpubound/coroutine.hpp>
struct Task {
  struct promise_type : gpubound::CoroutinePromise {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Task Turns(int count) {
  GPUBOUND_OPERATION("turns");
  for (int turn = 0; turn < count; ++turn) {
    GPUBOUND_ANNOTATION("turn");
    co_await std::suspend_never{};
  }
  const gpubound::CoroutineRoot root;
  GPUBOUND_COROUTINE_OPERATION("more turns");
  GPUBOUND_COROUTINE_ANNOTATION("turn");
  const gpubound::CoroutineOperation named("named");
  co_await gpubound::Suspended(std::suspend_always{});
}
""",
}


def compilers(names):
    return [name for name in names if shutil.which(name)]


def compile_text(command, text, language):
    return subprocess.run(command + ["-x", language, "-c", "-o", os.devnull, "-"], input=text,
                          text=True, capture_output=True, check=False)


def cases(include, sources):
    c_text = (sources / "c_user.c").read_text() + (sources / "disabled_user.c").read_text().replace(
        "#define GPUBOUND_DISABLE", "")
    cxx_text = (sources / "plugin.cc").read_text()
    root = sources.parent.parent
    for how in (["-I", include], ["-isystem", include]):
        for mode in ([], ["-DGPUBOUND_DISABLE"]):
            for optimise in ("-O0", "-O2"):
                base = [*how, *mode, optimise, f"-I{root}"]
                for cc in compilers(C_COMPILERS):
                    for std in C_DIALECTS:
                        yield [cc, f"-std={std}", *C_WARNINGS, *base], c_text, "c", True
                for cxx in compilers(CXX_COMPILERS):
                    for std in CXX_DIALECTS:
                        yield [cxx, f"-std={std}", *CXX_WARNINGS, *base], cxx_text, "c++", True
                    yield ([cxx, "-std=c++17", "-fno-exceptions", "-fno-rtti", *CXX_WARNINGS, *base],
                           cxx_text, "c++", True)
    for first, text in HOLDERS.items():
        for cxx in compilers(CXX_COMPILERS):
            warnings = CXX_WARNINGS + (GCC_WARNINGS if cxx == "g++" else [])
            if cxx == "g++" and "co_await" in text:  # g++ 12 finds a zero in every coroutine, ours or not
                warnings = warnings + ["-Wno-zero-as-null-pointer-constant"]
            for std in CXX_DIALECTS[CXX_DIALECTS.index(first):]:
                for how in (["-I", include], ["-isystem", include], ["-I", include, "-DGPUBOUND_DISABLE"]):
                    yield [cxx, f"-std={std}", *warnings, *how], text, "c++", True
    # Copied into a program's tree, and included by a path.
    by_path = f'#include "{include}/gpubound/annotate.h"\nint main(void) {{ GPUBOUND_FUNCTION(); }}\n'
    yield ["gcc", "-std=c11", "-Wall", "-Werror"], by_path, "c", True
    yield ["g++", "-std=c++17", "-Wall", "-Werror"], by_path, "c++", True
    for body in MISUSE.values():
        header = "coroutine.hpp" if "COROUTINE" in body else "annotate.h"
        text = f"#include <gpubound/{header}>\nvoid Misuse() {{ {body} }}\n"
        for cxx in compilers(CXX_COMPILERS):
            for std in ("c++17", "c++20"):
                yield [cxx, f"-std={std}", "-Wall", "-Werror", "-I", include], text, "c++", False


def errors_of_an_older_language(include):
    """What a C++14 compiler finds wrong with a program: one line says it."""
    text = ("#include <gpubound/annotate.h>\nvoid Use(int turn) { GPUBOUND_OPERATION(\"x\"); "
            "GPUBOUND_PHASE(\"y\"); GPUBOUND_STEP(turn); }\n")
    for cxx in compilers(CXX_COMPILERS):
        for std in ("c++11", "c++14"):
            found = compile_text([cxx, f"-std={std}", "-I", include], text, "c++").stderr
            errors = [line for line in found.splitlines() if "error:" in line]
            if len(errors) != 1 or "needs C++17" not in errors[0]:
                yield f"{cxx} -std={std}: expected one error that names C++17, found\n{found}"


def main():
    include, sources = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    failed = 0
    total = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(case, pool.submit(compile_text, *case[:3])) for case in cases(include, sources)]
        for (command, text, _, shall_compile), job in jobs:
            total += 1
            result = job.result()
            if (result.returncode == 0) != shall_compile:
                failed += 1
                print(f"{' '.join(command)}: expected to {'' if shall_compile else 'not '}compile\n"
                      f"{text if not shall_compile else ''}{result.stderr}")
    for complaint in errors_of_an_older_language(include):
        failed += 1
        print(complaint)
    print(f"compile matrix: {total - failed} of {total} as expected", file=sys.stderr)
    return 1 if failed or total < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
