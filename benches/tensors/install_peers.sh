#!/bin/sh
# Installs the libraries that the benchmark of tensors compares with into the folder that the argument names.
#
#     benches/tensors/install_peers.sh peers && PEERS_PYTHON=$PWD/peers/bin/python cargo bench --bench tensors
set -e
folder=${1:?"usage: $0 FOLDER"}
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet numpy jax torch
