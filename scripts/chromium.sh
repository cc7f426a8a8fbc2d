#!/bin/sh
# Sees to it that the browser tests have a Chromium: $CHROMIUM, else the system's, else Debian's package where that can
# be installed, else Playwright's own download.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)

if [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then exit 0; fi
if [ -n "${CHROMIUM:-}" ]; then
  echo "chromium: CHROMIUM is '$CHROMIUM', which is not a program" >&2
  exit 2
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "chromium: installing the system's package" >&2
  export DEBIAN_FRONTEND=noninteractive
  # The lock's time-out: another package job may be at work.
  if apt-get update -qq &&
    apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 chromium >/dev/null </dev/null &&
    [ -x /usr/bin/chromium ]; then
    exit 0
  fi
fi
dir=$("$root/scripts/node-env.sh")
cd "$root/site"
PATH="${dir:+$dir:}$PATH" npx playwright install chromium || {
  echo "chromium: no Chromium could be installed; install one and name it: CHROMIUM=/path/to/chromium make test" >&2
  exit 2
}
