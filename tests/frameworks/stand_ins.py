# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for libraries that cannot be installed on a machine without GPUs, or that bring much along. Each is
one text of stand_ins/, which begins with what it stands for:

    # verl 0.9.1: why it is not installed
    === verl/utils/profiler/performance.py
    (Python: where its functions lie, their names and parameters, as in that version's sources)

make() writes it as a distribution of that name and version, with the packages around each module."""
import pathlib
import re

FOLDER = pathlib.Path(__file__).parent / "stand_ins"
_HEADER = re.compile(r"# (\S+) (\d[\w.]*)(, commit [0-9a-f]{7,})?: .+")


def names():
    """Of the packages that there is one for."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def described(name):
    """The distribution that the stand-in of package `name` stands for, its version, and its modules by path.

    Raises ValueError where it does not say so."""
    header, _, rest = (FOLDER / f"{name}.txt").read_text().partition("\n=== ")
    match = _HEADER.match(header)
    if match is None:
        raise ValueError(f"stand_ins/{name}.txt begins with {header[:60]!r}; expected '# DISTRIBUTION VERSION: why'")
    modules = {}
    for part in rest.split("\n=== "):
        path, _, text = part.partition("\n")
        modules[path] = text.rstrip() + "\n"
    return match.group(1), match.group(2), modules


def make(folder, *packages):
    """Writes the stand-ins of `packages` into `folder`, a pathlib.Path; returns it."""
    for name in packages:
        distribution, version, modules = described(name)
        for path, text in modules.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            for package in list(file.relative_to(folder).parents)[:-1]:
                (folder / package / "__init__.py").touch()
            file.write_text(text)
        metadata = folder / f"{distribution.replace('-', '_')}-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir(parents=True)
        metadata.write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    return folder


def importable(name):
    """Names of the modules of the stand-in `name`."""
    paths = (pathlib.PurePosixPath(path) for path in described(name)[2])
    return [".".join((path.parent if path.name == "__init__.py" else path.with_suffix("")).parts) for path in paths]
