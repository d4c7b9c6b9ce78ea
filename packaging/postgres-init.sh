#!/bin/sh
# Run once by the postgres image, as its superuser, when the database is new: the role that owns the tables, and the one that serves.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  --set owner_password="$(cat "${SECRETS_DIR:-/run/secrets}/owner-password")" \
  --set service_password="$(cat "${SECRETS_DIR:-/run/secrets}/service-password")" <<'SQL'
SET password_encryption = 'scram-sha-256';
CREATE ROLE countersign_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE countersign LOGIN PASSWORD :'service_password';
CREATE DATABASE countersign OWNER countersign_owner ENCODING 'UTF8' TEMPLATE template0;
SQL
