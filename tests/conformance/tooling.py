"""The suite, the Inspector and a Node that runs them: npm packages in a folder outside the repo."""

import os
import subprocess
from pathlib import Path

PACKAGES = (
    "node@22.23.3",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
)


class Tooling:
    """Installed packages, as commands."""

    def __init__(self, folder: Path) -> None:
        self.modules = folder / "node_modules"
        self.node = str(self.modules / "node" / "bin" / "node")
        scope = self.modules / "@modelcontextprotocol"
        self.conformance = [self.node, str(scope / "conformance" / "dist" / "index.js")]
        inspector = scope / "inspector" / "clients" / "launcher" / "build" / "index.js"
        self.inspector = [self.node, str(inspector), "--cli"]
        # The Inspector starts `node` by name.
        self.path = f"{Path(self.node).parent}{os.pathsep}{os.environ['PATH']}"


def installed(folder: Path) -> Tooling:
    """Return the packages in `folder`, installed there if they are not."""
    tooling = Tooling(folder)
    if not (tooling.modules / "@modelcontextprotocol" / "inspector").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        npm = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([*npm, *PACKAGES], cwd=folder, check=True)
    return tooling
