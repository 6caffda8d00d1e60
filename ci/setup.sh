# shellcheck shell=bash
# What ci/check and ci/test share: install what is missing, choose a preset, build. Sourced, not run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
command_name=ci/$(basename "$0")
export DEBIAN_FRONTEND=noninteractive

# Everything that keeps the work from starting ends with this status.
readonly could_not_run=3

say() { printf '%s: %s\n' "$command_name" "$*" >&2; }

stop() {
  say "$*"
  exit "$could_not_run"
}

# A package, then the command that shows that it is not needed, if there is one.
needed_packages() {
  cat <<'LIST'
g++ command -v g++
cmake command -v cmake
ninja-build command -v ninja
binutils command -v objdump
python3 command -v python3
python3-venv python3 -c "import ensurepip, venv"
librapidcheck-dev
libeigen3-dev
libgtest-dev
libcli11-dev
nlohmann-json3-dev
libfmt-dev
libz3-dev
LIST
}

# Prints the packages that have to be installed, one a line.
missing_packages() {
  local installed package probe
  # shellcheck disable=SC2016  # dpkg-query expands these itself
  installed=$(needed_packages | awk '{print $1}' |
    xargs dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | awk '$1 == "installed" {print $2}') || true
  while read -r package probe; do
    if grep -qxF "$package" <<<"$installed"; then
      continue
    fi
    if [[ -n $probe ]] && eval "$probe" >/dev/null 2>&1; then
      continue
    fi
    printf '%s\n' "$package"
  done < <(needed_packages)
}

# Runs a command as root, or says that it cannot.
as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

may_be_root() { [[ $(id -u) -eq 0 ]] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }

ensure_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian or Ubuntu: the packages are not looked at; see CONTRIBUTING.md for what the build needs"
    return
  fi
  local missing=() install log
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -eq 0 ]]; then
    return
  fi
  install="apt-get install -y --no-install-recommends ${missing[*]}"
  if ! may_be_root; then
    say "packages are missing, and this is neither root nor passwordless sudo. Run:"
    printf 'sudo apt-get update && sudo %s\n' "$install" >&2
    exit "$could_not_run"
  fi
  say "installing ${missing[*]}"
  mkdir -p "$root/build"
  log=$root/build/install.log
  if ! { as_root apt-get -o DPkg::Lock::Timeout=120 update &&
    as_root apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    stop "apt-get failed (log: $log)"
  fi
}

# Makes build/venv hold the packages of ci/NAME.txt, unless it does already.
ensure_venv() {
  local requirements=$root/ci/$1.txt venv=$root/build/venv
  local stamp=$venv/$1.stamp log=$root/build/venv.log wanted
  wanted=$(python3 --version && cat "$requirements")
  if [[ -x $venv/bin/python3 && -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  say "installing the Python packages of ci/$1.txt into build/venv"
  mkdir -p "$root/build"
  local clear=()
  # Another Python than the one the environment was made with: make it anew.
  if [[ $("$venv/bin/python3" --version 2>/dev/null) != $(python3 --version) ]]; then
    clear=(--clear)
  fi
  if ! { python3 -m venv "${clear[@]}" "$venv" &&
    "$venv/bin/python3" -m pip install --disable-pip-version-check --quiet -r "$requirements"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    stop "the Python packages could not be installed (log: $log)"
  fi
  printf '%s\n' "$wanted" >"$stamp"
}

# The presets need CMake 3.25.
ensure_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | awk 'NR == 1 {print $3}')
  if [[ $(printf '%s\n3.25\n' "${version:-0}" | sort -V | head -n 1) == 3.25 ]]; then
    return
  fi
  ensure_venv requirements-cmake
  export PATH=$root/build/venv/bin:$PATH
}

# An nvcc that is installed but not on PATH is used too.
find_cuda() {
  if ! command -v nvcc >/dev/null && [[ -x /usr/local/cuda/bin/nvcc ]]; then
    export PATH=$PATH:/usr/local/cuda/bin
  fi
}

default_preset() {
  if command -v nvcc >/dev/null; then
    echo gpu
  else
    echo cpu
  fi
}

gpu_works() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

# Whether the build folder is configured, from this very source folder.
is_configured() {
  local build=$1
  [[ -f $build/build.ninja ]] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"
}

# build PRESET PYTHON [--target NAME...]: quiet unless it fails. An empty PYTHON leaves the tests' Python as it is.
build() {
  local preset=$1 python=$2
  shift 2
  local folder=$root/build/$preset
  local log=$folder/build.log options=() launcher
  mkdir -p "$folder"
  : >"$log"
  if ! is_configured "$folder"; then
    say "configuring and building in build/$preset; the first time takes minutes (log: build/$preset/build.log)"
    options+=(--fresh)
    if command -v ccache >/dev/null; then
      for launcher in C CXX CUDA; do
        options+=("-DCMAKE_${launcher}_COMPILER_LAUNCHER=ccache")
      done
    fi
  fi
  if [[ -n $python ]] &&
    { [[ ${#options[@]} -ne 0 ]] || ! grep -qxF "KVPROOF_PYTHON:STRING=$python" "$folder/CMakeCache.txt"; }; then
    options+=("-DKVPROOF_PYTHON:STRING=$python")
  fi
  if ! (
    cd "$root"
    if [[ ${#options[@]} -ne 0 ]]; then
      cmake --preset "$preset" "${options[@]}"
    fi
    cmake --build --preset "$preset" -j "$(nproc)" "$@"
  ) >>"$log" 2>&1 </dev/null; then
    tail -n 60 "$log" >&2
    stop "the build failed (log: build/$preset/build.log)"
  fi
}
