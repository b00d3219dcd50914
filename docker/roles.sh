#!/bin/sh
# The roles of the front end, which reads, and of the indexing job, which writes.
set -eu
for role in web editor; do
    write=$([ "$role" = editor ] && echo true || echo false)
    # Through standard input: psql replaces variables there, and the list of processes shows no password.
    { printf '\\set password `cat /run/secrets/%s_password`\n' "$role"
      echo "CREATE ROLE $role LOGIN PASSWORD :'password';"
      echo "SELECT docsearch.grant_usage('$role', write => $write);"
    } | psql -v ON_ERROR_STOP=1 --no-psqlrc --quiet --username "${POSTGRES_USER:-postgres}" \
        --dbname "${POSTGRES_DB:-${POSTGRES_USER:-postgres}}" > /dev/null
done
