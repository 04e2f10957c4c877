#!/bin/sh
# Installs the peers of the benchmarks: JAX, PyTorch and NumPy into the folder that the first argument names, or only the
# packages that follow it.
#
#     benches/install_peers.sh peers && PEERS_PYTHON=$PWD/peers/bin/python cargo bench --bench tensors
#     benches/install_peers.sh peers numpy jax && PEERS_PYTHON=$PWD/peers/bin/python cargo bench --bench gradients
#
# The benchmarks `compiled` and `lua` compare with LuaJIT and Lua, which the package manager of the system installs:
#
#     apt-get install luajit lua5.4
set -e
folder=${1:?"usage: $0 FOLDER [PACKAGE...]"}
shift
[ $# -gt 0 ] || set -- numpy jax torch
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet "$@"
