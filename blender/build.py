"""Build the extension: `python blender/build.py [FOLDER]` writes taut-VERSION.zip there.

The zip is what Blender installs by Preferences › Get Extensions › Install from Disk.
"""

import sys
import tomllib
import zipfile
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_DATE = (2020, 1, 1, 0, 0, 0)  # the same for all, so that the same files give the same bytes


def build(folder):
    """Write the zip into a folder and return its path."""
    manifest = tomllib.loads((_HERE / "blender_manifest.toml").read_text(encoding="utf-8"))
    path = Path(folder) / f"{manifest['id']}-{manifest['version']}.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    files = [_HERE / "blender_manifest.toml", *sorted(_HERE.glob("*.py"))]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            if file.name != Path(__file__).name:
                archive.writestr(zipfile.ZipInfo(file.name, _DATE), file.read_bytes())
    return path


if __name__ == "__main__":
    print(build(sys.argv[1] if len(sys.argv) > 1 else "."))
