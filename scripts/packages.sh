# shellcheck shell=bash
# Sourced by tests/run and bench/run: finds out which Debian packages are missing and installs those.
#
#   need_packages NAME...   the caller can't go on without them: ends the script when they can't be had
#   want_packages NAME...   the caller can: says what will be left out and returns
#   unpack_packages ARCHITECTURE RELEASE FOLDER NAME...
#                           packages for another processor, of a release of Debian ("": the system's), unpacked into a
#                           folder, not installed
#
# NAME is a package, or package:command where the command will do, wherever it came from.

debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints the address of Debian's archive from which this machine has its packages, or of $TALLY_DEBIAN_MIRROR.
debian_mirror() {
  local codename
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  echo "${TALLY_DEBIAN_MIRROR:-$(apt-get indextargets --format "\$(RELEASE) \$(REPO_URI)" |
    sed -n "/^$codename /{s///p;q}" || true)}"
}

need_packages() {
  install_packages "$@" && return
  echo "Missing: ${missing_packages[*]}. Install what provides them (Debian's names), then run this again." >&2
  exit 1
}

want_packages() {
  install_packages "$@" && return
  echo "Going on without: ${missing_packages[*]} (Debian's names)." >&2
}

# Sets missing_packages to those that could not be installed; fails if there are any.
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
  # A name that the release lacks must not keep the others out.
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

# Packages come with their dependencies, except the C and C++ libraries, which the cross compiler has. apt-get's state
# for the other architecture stays in the folder too: the system is unchanged.
unpack_packages() {
  local architecture=$1 release=$2 folder=$3
  shift 3
  [ "$(cat "$folder/.unpacked" 2>/dev/null)" = "$*" ] && return
  echo "Unpacking $* for $architecture"
  mkdir -p "$folder/.apt/lists/partial" "$folder/.apt/archives/partial" "$folder/usr/lib"
  ln -sfn usr/lib "$folder/lib"  # as on Debian
  folder=$(cd "$folder" && pwd)
  local apt=(-qq -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
    -o "Dir::State=$folder/.apt" -o "Dir::Cache=$folder/.apt" -o APT::Sandbox::User=root)
  if [ -n "$release" ]; then
    echo "deb [signed-by=$debian_keyring] $(debian_mirror) $release main" >"$folder/.apt/sources.list"
    apt+=(-o "Dir::Etc::SourceList=$folder/.apt/sources.list" -o Dir::Etc::SourceParts=/dev/null)
  fi
  (
    cd "$folder/.apt/archives"
    # What is needed may be there although an index, or another package, is not.
    apt-get "${apt[@]}" update
    mapfile -t libraries < <(apt-cache "${apt[@]}" depends --important "$@" |
      sed -En '/: (libc6|libstdc)/d; s/^ *Depends: (lib|zlib)/\1/p')
    apt-get "${apt[@]}" download "$@" "${libraries[@]}" && touch ../complete
    for package in *.deb; do
      dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$folder"
    done
    # Makes absolute links relative to the folder.
    find "$folder" -type l -lname '/*' -printf '%p %l\n' |
      while read -r link target; do ln -sfn "$folder$target" "$link"; done
  ) || true
  if [ -e "$folder/.apt/complete" ]; then
    echo "$*" >"$folder/.unpacked"
  else
    echo "Going on without some of what was to be had for $architecture: $*" >&2
  fi
  rm -r "$folder/.apt"
}
