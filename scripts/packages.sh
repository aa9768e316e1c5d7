# shellcheck shell=bash
# Sourced by tests/run and bench/run: finds out which Debian packages are missing and installs those.
#
#   need_packages NAME...   the caller can't go on without them: ends the script when they can't be had
#   want_packages NAME...   the caller can: says what will be left out and returns
#
# NAME is a package, or package:command where the command will do, wherever it came from.

need_packages() {
  install_packages "$@" && return
  echo "Missing: ${missing_packages[*]}. Install what provides them (Debian's names), then run this again." >&2
  exit 1
}

want_packages() {
  install_packages "$@" && return
  echo "Going on without: ${missing_packages[*]} (Debian's names)." >&2
}

# Sets missing_packages to what could not be installed; fails if there is any.
install_packages() {
  list_missing "$@"
  [ ${#missing_packages[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Not root, and no sudo to install packages with." >&2; return 1; }
    as_root=(sudo)
  fi
  command -v apt-get >/dev/null || { echo "No apt-get to install packages with." >&2; return 1; }
  echo "Installing ${missing_packages[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  # One name that the release doesn't have must not keep the others out.
  { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing_packages[@]}" ||
    for package in "${missing_packages[@]}"; do
      "${apt[@]}" install -y --no-install-recommends "$package"
    done; } >/dev/null || true
  list_missing "$@"
  [ ${#missing_packages[@]} -eq 0 ]
}

list_missing() {
  missing_packages=()
  local name
  for name in "$@"; do
    case $name in
      *:*) command -v "${name#*:}" >/dev/null && continue ;;
    esac
    [[ $(dpkg-query -W -f '${Status}' "${name%%:*}" 2>/dev/null) == *'ok installed'* ]] && continue
    missing_packages+=("${name%%:*}")
  done
}
