#!/bin/sh
# Makes the secrets that compose.yaml hands out, in the folder named, and leaves alone what is there. The folder is closed to everybody
# else; the files can be read by all, since each container that is given one reads it as its own user.
set -eu
folder=${1:?usage: make-secrets.sh FOLDER}
umask 077
mkdir -p "$folder"
chmod 0700 "$folder"
# Should the folder lie in a working copy.
printf '*\n' >"$folder/.gitignore"

put() {
  [ -e "$folder/$1" ] && return 0
  printf '%s\n' "$2" >"$folder/$1"
  chmod 0444 "$folder/$1"
}

put secret "$(openssl rand -hex 32)"
for name in postgres owner service; do put "$name-password" "$(openssl rand -hex 32)"; done
put database-owner-url "postgresql://countersign_owner:$(cat "$folder/owner-password")@postgres/countersign"
put database-url "postgresql://countersign:$(cat "$folder/service-password")@postgres/countersign"
