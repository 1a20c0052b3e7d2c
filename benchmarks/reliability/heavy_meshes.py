"""Small mesh files that are made to take much time or memory.

They have many names, many sections, many arrays that share their bytes, or long lines. Each has at
most a few megabytes, and is read in its own process.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MAX_SECONDS, MAX_MEMORY = 2.0, 1e9  # [s], [bytes]
READ = """
import resource, sys, time
import taut.mesh, taut.mesh.mesh, importlib, pathlib, scipy.sparse.csgraph
from taut.mesh.files import load_format
path = pathlib.Path(sys.argv[1])
load_format(path)
begin = time.perf_counter()
try:
    answer = repr(taut.mesh.read(path))
except taut.errors.MeshError as error:
    answer = str(error).removeprefix(str(path))[:90]
print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, answer)
"""
CORNER = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"


def glb(document: Mapping[str, object], data: bytes = b"") -> bytes:
    """Return a binary glTF file with a document and its buffer.

    >>> glb({})[:4]
    b'glTF'
    """
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(data), b"BIN\0") + data if data else b""
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def _triangle_glb(**more: object) -> bytes:
    """Return a file with one triangle; more : further entries of the document."""
    accessor = {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}
    document = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [accessor],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
    }
    return glb(document | more, struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0))


def files() -> dict[str, bytes]:
    """Return all files by name."""
    names = " ".join(f"n{i}" for i in range(20_000))
    faces = "f 1 2 3\n" * 20_000
    ring = [f"f {' '.join(['1'] * k)}" for k in range(3, 303)]
    array = '<DataArray type="Float64" Name="a{}" NumberOfComponents="3" format="appended" offset="0"/>\n'
    cells = {"connectivity": ("Int64", "0 1 2"), "offsets": ("Int64", "3"), "types": ("UInt8", "5")}
    vtu = (
        (
            '<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>\n'
            f'<Piece NumberOfPoints="30000" NumberOfCells="1"><Points>{array.format("")}</Points><Cells>'
            + "".join(
                f'<DataArray type="{t}" Name="{name}" format="ascii">{text}</DataArray>'
                for name, (t, text) in cells.items()
            )
            + f"</Cells><PointData>{''.join(array.format(i) for i in range(8000))}</PointData>"
            + '</Piece></UnstructuredGrid><AppendedData encoding="raw">_'
        ).encode()
        + struct.pack("<I", 720_000)
        + bytes(720_000)
        + b"</AppendedData></VTKFile>"
    )
    node_data = '$NodeData\n1\n"a"\n0\n3\n0\n1\n0\n$EndNodeData\n'
    msh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
    one = "$Elements\n1\n{} 2 0 1 2 3\n$EndElements\n"
    ply = (
        "ply\nformat ascii 1.0\n"
        + "".join(f"element a{i} 0\n" for i in range(60_000))
        + "end_header\n"
    )
    strips = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float "
    "y\nproperty float z\n"
    strips += (
        "element tristrips 150000\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 "
        "0\n0 1 0\n" + "3 0 1 2\n" * 150_000
    )
    chain = [*({"children": [i + 1], "scale": [1, 1, 1]} for i in range(30_000)), {"mesh": 0}]
    refs = "".join(f"{i} 0 0 {i}\n" for i in range(1, 60_001))
    return {
        "names_faces.obj": f"{CORNER}g {names}\n{faces}".encode(),
        "usemtl.obj": f"{CORNER}g {names}\n{''.join(f'usemtl m{i}{chr(10)}' for i in range(20_000))}f 1 2 3\n".encode(),
        "labels.obj": (CORNER + "g a\n" * 500_000 + "f 1 2 3\n").encode(),
        "labels_kinds.obj": (
            CORNER + "".join(f"g a{i}\n{ring[i % 300]}\n" for i in range(7000)) + "f 1 2 3\n"
        ).encode(),
        "long_line.obj": (CORNER + "#" + "x" * 500_000 + "\nf 1 2 \\\n 3\n").encode(),
        "continued.obj": (CORNER + "f 1 2 3" + " \\\n1" * 400_000 + "\n").encode(),
        "elements.ply": ply.encode(),
        "strips.ply": strips.encode(),
        "references.mesh": f"MeshVersionFormatted 1\nVertices 60000\n{refs}Triangles 1\n1 2 3 0\n".encode(),
        "alias.vtu": vtu,
        "arrays.vtk": (
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 "
            "1 0\nPOLYGONS 1 4\n3 0 1 2\n"
            "POINT_DATA 3\nFIELD f 100000\n"
            + "".join(f"a{i} 1 3 int\n0 0 0\n" for i in range(100_000))
        ).encode(),
        "sections.msh": (
            msh + one.format(1) + "".join(f"$S{i}\n$EndS{i}\n" for i in range(60_000))
        ).encode(),
        "elements.msh": (msh + "".join(one.format(i + 1) for i in range(30_000))).encode(),
        "node_data.msh": (msh + one.format(1) + node_data * 50_000).encode(),
        "attributes.glb": _triangle_glb(
            meshes=[
                {
                    "primitives": [
                        {"attributes": {"POSITION": 0} | {f"_A{i}": 0 for i in range(30_000)}}
                    ]
                }
            ]
        ),
        "nodes.glb": _triangle_glb(
            nodes=[{"mesh": 0, "translation": [1, 0, 0]} for _ in range(10_000)]
        ),
        "chain.glb": _triangle_glb(nodes=chain, scenes=[{"nodes": [0]}], scene=0),
        "primitives.glb": _triangle_glb(
            meshes=[{"primitives": [{"attributes": {"POSITION": 0}}] * 40_000}]
        ),
    }


@dataclass(frozen=True)
class Reading:
    """How a file was read.

    size : of the file [MB]
    seconds, memory : time [s] and peak memory [bytes]; nan if the process failed
    answer : the mesh, the error, or the last output of the process
    """

    name: str
    size: float
    seconds: float
    memory: float
    answer: str

    @property
    def exceeds_limits(self) -> bool:
        """Whether reading took too much time or memory, or the process failed."""
        return not (self.seconds <= MAX_SECONDS and self.memory <= MAX_MEMORY)

    def __str__(self) -> str:
        mark = "  <-- too much" if self.exceeds_limits else ""
        took = f"{self.seconds:6.2f} s, {self.memory / 1e6:5.0f} MB"
        return f"{self.name:18} {self.size:5.2f} MB: {took}, {self.answer.strip()[:90]}{mark}"


def campaign(contents: Mapping[str, bytes]) -> Iterator[Reading]:
    """Read the files one after another, each in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in contents.items():
            path = Path(folder) / name
            path.write_bytes(content)
            run = subprocess.run(
                [sys.executable, "-P", "-c", READ, str(path)],
                capture_output=True,
                text=True,
                check=False,
                timeout=600,
            )
            if run.returncode == 0:
                seconds, memory, answer = run.stdout.split(" ", 2)
            else:
                seconds, memory, answer = "nan", "nan", run.stderr[-200:]
            yield Reading(name, len(content) / 1e6, float(seconds), float(memory), answer)
