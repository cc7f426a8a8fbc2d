#!/bin/sh
# Makes the virtual environment VENV (.venv) with the project in it, installed so that edits take effect at once.
# usage: python-env.sh [VENV]; PYTHON says which Python to make it with (python3).
# Packages come at the versions in experiments/requirements.lock. What stops it is said in one sentence; exit 2.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
venv=${1:-.venv}
case $venv in /*) ;; *) venv=$root/$venv ;; esac
python=${PYTHON:-python3}

stop() {
  echo "setup: $1" >&2
  exit 2
}

recent_enough() { # PYTHON: does it run, and is it 3.11 or newer?
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if ! recent_enough "$venv/bin/python"; then
  command -v "$python" >/dev/null ||
    stop "there is no '$python' here; install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3"
  recent_enough "$python" ||
    stop "$python is $("$python" -V 2>&1), but 3.11 or newer is needed; name another: make PYTHON=/path/to/python3"
  "$python" -c 'import ensurepip, venv' 2>/dev/null ||
    stop "$python has no venv or ensurepip module (on Debian and Ubuntu: apt-get install python3-venv)"
  # --clear: an environment that cannot start Python, or is too old, is of no use.
  "$python" -m venv --clear "$venv" || stop "'$python -m venv $venv' failed, see above"
fi

echo "setup: installing the Python packages into $(basename "$venv") (about a minute, most of it torch)"
"$venv/bin/python" -m pip install --quiet --no-input \
  -c "$root/experiments/requirements.lock" -e "$root/experiments[dev]" ||
  stop "pip could not install the packages, see above; without a network, a Python that has torch can still measure: python3 experiments/backprop.py OUT"
