# SPDX-License-Identifier: Apache-2.0
"""Whether what a hook file names is in the sources of its library, without importing or installing them:

    python3 hooked_names.py HOOKS.json FOLDER...

FOLDER holds the packages that the hooks name. Prints each module, class, function and parameter that is not
there, and exits with 1 where there is one. Where a hook is for `subclasses`, a method may be in any class of the
folders; what a class has from elsewhere is not followed. A module that is not there at all may belong to an older
or later version, and is said to be so."""
import ast
import json
import pathlib
import sys


def expand(items, lists):
    return [name for item in items for name in (lists[item[1:]] if item.startswith("@") else [item])]


class Sources:
    def __init__(self, folders):
        self._folders = [pathlib.Path(folder) for folder in folders]
        self._parsed = {}
        self._methods = None

    def module(self, name):
        """Its syntax tree, or None."""
        if name not in self._parsed:
            files = [folder / (name.replace(".", "/") + end) for folder in self._folders
                     for end in (".py", "/__init__.py")]
            found = next((file for file in files if file.is_file()), None)
            self._parsed[name] = None if found is None else ast.parse(found.read_text())
        return self._parsed[name]

    def methods(self, names):
        """Functions of these names in any class of the packages."""
        if self._methods is None:
            self._methods = {}
            for file in (file for folder in self._folders for file in folder.rglob("*.py")):
                for node in ast.walk(ast.parse(file.read_text(errors="replace"))):
                    if isinstance(node, ast.ClassDef):
                        for function in _functions(node.body):
                            self._methods.setdefault(function.name, []).append(function)
        return [function for name in names for function in self._methods.get(name, ())]


def _functions(body):
    return [node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _bound_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _parameters(function):
    given = function.args
    return {argument.arg for argument in given.posonlyargs + given.args + given.kwonlyargs}


def _roots(hook):
    paths = [path for path in hook.get("counters", {}).values() if isinstance(path, str)]
    paths += [hook["consumed"]["samples"]] if "consumed" in hook else []
    return {path.partition(".")[0] for path in paths + list(hook.get("only", {}))} - {"returned"}


def missing(description, sources):
    """What of a hook file is not in the sources, in words."""
    for hook in description["hooks"]:
        if "names" not in hook:
            continue
        where, names = hook["module"], expand(hook["names"], description.get("lists", {}))
        tree = sources.module(where)
        if tree is None:
            yield f"no module {where}"
            continue
        if "class" not in hook:
            yield from (f"{where} has no {name}" for name in set(names) - set(_bound_names(tree)))
            functions = [one for one in _functions(tree.body) if one.name in names]
        else:
            owner = next((node for node in ast.walk(tree)
                          if isinstance(node, ast.ClassDef) and node.name == hook["class"]), None)
            if owner is None:
                yield f"{where} has no class {hook['class']}"
                continue
            functions = [one for one in _functions(owner.body) if one.name in names]
            if hook.get("subclasses"):
                functions += sources.methods(set(names) - {one.name for one in functions})
            found = {one.name for one in functions}
            yield from (f"{where}.{hook['class']} has no {name}" for name in names if name not in found)
        for root in _roots(hook):
            if functions and not any(root in _parameters(function) for function in functions):
                yield f"{where}: {', '.join(names)} has no parameter {root}"


def main(file, *folders):
    problems = list(missing(json.loads(pathlib.Path(file).read_text()), Sources(folders)))
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
