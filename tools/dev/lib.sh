# shellcheck shell=bash
# What tools/quickstart, tools/test and tools/dev/install share: packages, configuring, building, progress.
# Sourced by a bash script that runs in the repository's root with `set -euo pipefail`.
# A function that cannot go on says what is missing and the command that brings it, and ends the script with 2.

# Says why the script cannot go on, and ends it.
give_up() {
  printf '\n%s\n' "$@" >&2
  exit 2
}

# Prints the packages of the named groups of tools/dev/packages.txt, one a line.
packages_of() {
  local group wanted line found
  for wanted in "$@"; do
    group='' found=no
    while IFS= read -r line; do
      line=${line%%#*}
      line=${line//[[:space:]]/}
      case $line in
        '') ;;
        "[$wanted]") group=$wanted found=yes ;;
        '['*) group='' ;;
        *) if [ "$group" = "$wanted" ]; then printf '%s\n' "$line"; fi ;;
      esac
    done < tools/dev/packages.txt
    if [ "$found" = no ]; then give_up "tools/dev/packages.txt has no group '$wanted'."; fi
  done
}

# Prints those of the given packages that are not installed, in one line.
missing_packages() {
  local installed package missing=()
  # dpkg-query fails when it does not know a package; that package is then missing from its answer.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true
  for package in "$@"; do
    if ! grep -qxF "installed $package" <<< "$installed"; then missing+=("$package"); fi
  done
  printf '%s' "${missing[*]}"
}

# Installs the missing packages of the named groups; without any, runs no apt command and needs no network.
install_packages() {
  local packages missing command
  packages=$(packages_of "$@")
  if ! command -v dpkg-query > /dev/null; then
    give_up "This is not a Debian system, so the packages below cannot be checked or installed by name:" \
      "  ${packages//$'\n'/ }" \
      "Install what corresponds to them with your system's package manager, then add --no-install."
  fi
  # shellcheck disable=SC2086 # A list of names without spaces.
  missing=$(missing_packages $packages)
  if [ -z "$missing" ]; then return; fi

  command="apt-get update && apt-get install --no-install-recommends $missing"
  if [ "$(id -u)" != 0 ]; then
    give_up "These Debian packages are missing: $missing" "Only root can install them. Run this, then start again:" \
      "  sudo sh -c '$command'"
  fi
  if ! command -v apt-get > /dev/null; then
    give_up "These packages are missing and there is no apt-get to install them: $missing"
  fi
  echo "Installing Debian packages: $missing"
  # A failed update is not the end: the lists may be recent enough.
  run_quietly apt-get -q -o DPkg::Lock::Timeout=120 update || true
  # shellcheck disable=SC2086
  run_quietly env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 \
    install --no-install-recommends $missing ||
    give_up "apt-get could not install: $missing" "Its own words are above. Once that is mended, this brings them:" \
      "  $command"
}

# unpack_packages FOLDER GROUP: unpacks the packages of the group into FOLDER/programs, without installing them: what
# they would start stays unstarted. Leaves a word, and goes on, when they cannot be had: who needs them says so.
unpack_packages() {
  local programs=$1/programs packages=$2 package
  for package in $(packages_of "$packages"); do
    if [ -e "$programs/$package.done" ]; then continue; fi
    mkdir -p "$programs"
    echo "Unpacking Debian package: $package"
    if (cd "$programs" && run_quietly apt-get -q download "$package" && dpkg-deb -x "$package"_*.deb .); then
      touch "$programs/$package.done"
    else
      echo "It could not be had; tests that need it will be skipped."
    fi
    rm -f "$programs/$package"_*.deb
  done
}

# Runs a command whose output matters only when it fails; shows a sign of life while it works.
run_quietly() {
  local log status=0
  log=$(mktemp)
  "$@" 2>&1 < /dev/null | tee "$log" | show_progress '' || status=$?
  if [ "$status" != 0 ]; then tail -n 40 "$log" >&2; fi
  rm -f "$log"
  return "$status"
}

# Copies standard input to standard output, but of the lines that begin with $1 (all, if it is empty) only one
# every few seconds: a long step shows that it lives and does not bury what matters.
show_progress() {
  local prefix=$1 line next=$((SECONDS + 3))
  while IFS= read -r line; do
    if [[ $line == "$prefix"* ]]; then
      if [ "$SECONDS" -lt "$next" ]; then continue; fi
      next=$((SECONDS + 5))
      printf '  %.100s\n' "$line"
    else
      printf '%s\n' "$line"
    fi
  done
}

# configure FOLDER MESON_OPTION...: makes the build folder, or brings an existing one to these options.
configure() {
  local folder=$1 again=()
  shift
  if [ -f "$folder/meson-private/coredata.dat" ]; then
    if ! grep -qF "\"source\": \"$PWD\"" "$folder/meson-info/meson-info.json"; then
      give_up "$folder/ was configured for sources in another place. Remove it and start again:" "  rm -r $folder"
    fi
    again=(--reconfigure)
  fi
  if [ -f "$folder/build.ninja" ] && [ "$*" = "$(cat "$folder/tombolo-options" 2> /dev/null)" ]; then
    # Ninja has Meson run again if a meson.build changed; here and not in build(), where that would be noise.
    run_quietly ninja -C "$folder" build.ninja || could_not_configure "$folder"
    return
  fi
  echo "Configuring $folder/"
  run_quietly meson setup "${again[@]}" "$folder" "$@" || could_not_configure "$folder"
  printf '%s' "$*" > "$folder/tombolo-options"
}

could_not_configure() {
  give_up "Meson could not configure $1/; its own words are above." \
    "If the folder itself is in the way, remove it and start again:  rm -r $1"
}

# build FOLDER [TARGET...]: builds with every core; what a failing command says is shown whole.
build() {
  local folder=$1
  shift
  echo "Building $folder/ on $(nproc) cores"
  if [ -t 1 ]; then
    ninja -C "$folder" -j "$(nproc)" "$@"
  else
    ninja -C "$folder" -j "$(nproc)" "$@" 2>&1 < /dev/null | show_progress '['
  fi
}
