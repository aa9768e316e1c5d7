# shellcheck shell=bash
# Sourced by scripts that run commands in roots of other systems, made by debootstrap from this machine's mirror.
#
#   need_roots               ends the script where roots can't be made
#   make_root RELEASE ROOT   a fresh root of a release of Debian
#   in_root ROOT COMMAND...  runs a command there
#   install_in ROOT NAME...  installs packages there
#   hip_root NEW             prints a root of Debian's unstable release with hipcc, its clang, and Kokkos, made where it is not
#                            there or NEW is true
#   put_sources FOLDER PATH...  tracked files of this clone, and a version.h, into a folder

source scripts/packages.sh

fail() { echo "$0: $*" >&2; exit 2; }

need_roots() {
  local command
  [ "$(id -u)" -eq 0 ] || fail "it must be started as root, to make a root of another system"
  for command in debootstrap git unshare; do
    command -v $command >/dev/null || fail "there is no $command (Debian: debootstrap, git, util-linux)"
  done
  [ -e "$debian_keyring" ] || fail "there is no $debian_keyring (Debian: debian-archive-keyring)"
  [ -n "$(debian_mirror)" ] || fail "apt-get knows no mirror; TALLY_DEBIAN_MIRROR may name one"
}

make_root() {
  rm -rf --one-file-system "$2"
  mkdir -p "$2"
  debootstrap --variant=minbase --keyring="$debian_keyring" "$1" "$2" "$(debian_mirror)" || return
  apt-config dump Acquire >"$2/etc/apt/apt.conf.d/90host"
  use_network_of_host "$2"
}

use_network_of_host() {  # root
  local file
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do [ ! -e $file ] || cp -L $file "$1$file"; done
}

# The environment is small, and children of the command end with it.
in_root() {
  local root=$1 variables
  shift
  mapfile -t variables < <(env | grep -E '^(PIP_[A-Z_]*|[a-zA-Z]*_(proxy|PROXY))=' || true)
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    exec chroot "$@"' bash "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 "${variables[@]}" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

install_in() {
  in_root "$1" env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get -qq update &&
    apt-get -qq install -y --no-install-recommends "$@"' sh "${@:2}"
}

hip_root() {
  local folder=$PWD/build/distributions/debian-sid
  local root=$folder/root
  if $1 || [ ! -e "$folder/complete" ]; then
    mkdir -p "$folder"
    rm -f "$folder/complete"
    echo "Making $root" >&2
    { make_root sid "$root" && install_in "$root" hipcc libkokkos-dev; } >"$folder/root.log" 2>&1 || {
      tail -n 5 "$folder/root.log" >&2
      fail "there is no root; $folder/root.log has why"
    }
    touch "$folder/complete"
  fi
  echo "$root"
}

put_sources() {
  local to=$1
  shift
  rm -rf "$to"
  mkdir -p "$to"
  git ls-files -z "$@" | xargs -0 cp --parents -t "$to"
  sed 's/@[A-Z_]*@/0/g' include/tally/version.h.in >"$to/include/tally/version.h"
}
