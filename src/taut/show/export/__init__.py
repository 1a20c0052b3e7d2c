"""A run as files for other programs: USD, glTF, VTKHDF, OBJ and PLY sequences, PC2 point caches.

    taut.show.export.export("runs/cloth-1", "cloth.usdc")

One file for each format; `export` picks by the ending of the name.
"""

from taut.show.export.writing import Exported, export

__all__ = ["Exported", "export"]
