#!/bin/bash
# Does what the official image's entrypoint does that matters here: as the user postgres, it makes a cluster once,
# runs /docker-entrypoint-initdb.d with a server on the socket alone, and starts the server.
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$PGDATA" /var/run/postgresql
    chown -R postgres "$PGDATA" /var/run/postgresql
    exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    initdb --username="${POSTGRES_USER:-postgres}" --pwfile=<(cat "$POSTGRES_PASSWORD_FILE") --auth-local=trust \
        --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -D "$PGDATA" -w -o "-c listen_addresses=" start
    for file in /docker-entrypoint-initdb.d/*; do
        case "$file" in
            *.sh) "$file" ;;
            *.sql) psql -v ON_ERROR_STOP=1 --no-psqlrc -U "${POSTGRES_USER:-postgres}" -d "${POSTGRES_DB:-postgres}" -f "$file" ;;
        esac
    done
    pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec "$@"
