//! `revoke_usage`: revokes what `grant_usage` and `grant_model` granted a role.

use pgrx::datum::DatumWithOid;

use crate::administration::grant;
use crate::postgres::report::{self, Result, invalid, undefined};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::tables::model_grant;
use crate::tables::schema::{self, Part};

/// PUBLIC as a grantee in the catalogs.
const PUBLIC: i64 = 0;

/// The privileges granted in schema `docsearch`: the object as REVOKE names it, its owner, grantee and grantor.
/// Functions that PUBLIC may execute are left out.
const GRANTED: &str = "
    SELECT 'SCHEMA docsearch' AS object, n.nspowner AS owner, a.grantee, a.grantor
    FROM pg_namespace n CROSS JOIN aclexplode(n.nspacl) a WHERE n.nspname = 'docsearch'
    UNION
    SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || c.oid::regclass::text, c.relowner, a.grantee, a.grantor
    FROM pg_class c CROSS JOIN aclexplode(c.relacl) a
    WHERE c.relnamespace = 'docsearch'::regnamespace
    UNION
    SELECT 'TABLE ' || c.oid::regclass::text, c.relowner, a.grantee, a.grantor
    FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid CROSS JOIN aclexplode(t.attacl) a
    WHERE c.relnamespace = 'docsearch'::regnamespace
    UNION
    SELECT 'FUNCTION ' || p.oid::regprocedure::text, p.proowner, a.grantee, a.grantor
    FROM pg_proc p CROSS JOIN aclexplode(p.proacl) a
    WHERE p.pronamespace = 'docsearch'::regnamespace AND a.grantee <> 0";

/// A role that loses its privileges.
struct Grantee {
    /// Its number in the catalogs; as an `Oid`, that of PUBLIC would be taken for NULL.
    id: i64,
    /// Quoted, as statements name it.
    name: String,
}

/// Revokes all privileges of a role on the schema, its tables and remote models. The caller owns the schema.
pub(crate) fn revoke(caller: &mut Caller, role: &str) -> Result<()> {
    schema::require_owner(caller, "SELECT docsearch.revoke_usage('the role')")?;
    let role = Grantee::named(caller, role)?;
    grant::serialize();
    for object in role.granted(caller)? {
        statement::utility(caller, &format!("REVOKE ALL ON {object} FROM {}", role.name))?;
    }
    role.revoke_defaults(caller)?;
    role.revoke_models(caller)?;
    role.report_remaining(caller)
}

impl Grantee {
    fn named(caller: &Caller, name: &str) -> Result<Self> {
        // GRANT and REVOKE read it as PUBLIC even if it is quoted.
        if name == "public" {
            return Ok(Self {
                id: PUBLIC,
                name: "PUBLIC".to_owned(),
            });
        }
        let known = statement::one(
            caller,
            "SELECT r.oid::bigint, quote_ident(r.rolname),
                    EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = 'docsearch' AND n.nspowner = r.oid)
             FROM pg_roles r WHERE r.rolname = $1::text::name AND length($1::text) < 64",
            &[DatumWithOid::from(name)],
            |row| {
                let role = Self {
                    id: row.required(1)?,
                    name: row.required(2)?,
                };
                Ok((role, row.required::<bool>(3)?))
            },
        )?;
        match known {
            None => Err(undefined(
                format!("role \"{name}\" does not exist"),
                "Name a role; SELECT rolname FROM pg_roles lists them.",
            )),
            Some((_, true)) => Err(invalid(
                format!("role \"{name}\" owns schema docsearch"),
                "Give the schema to another role first: ALTER SCHEMA docsearch OWNER TO ...",
            )),
            Some((role, false)) => Ok(role),
        }
    }

    /// The objects with privileges that the caller can revoke as their owner. Objects that the role owns are left out.
    fn granted(&self, caller: &Caller) -> Result<Vec<String>> {
        statement::rows(
            caller,
            &format!(
                "SELECT DISTINCT g.object FROM ({GRANTED}) g
                 WHERE g.grantee = $1::oid AND g.owner <> $1::oid AND pg_has_role(g.owner, 'USAGE') ORDER BY 1"
            ),
            &[DatumWithOid::from(self.id)],
            |row| row.required(1),
        )
    }

    /// Revokes default privileges: on objects that are created later.
    fn revoke_defaults(&self, caller: &Caller) -> Result<()> {
        let defaults = statement::rows(
            caller,
            "SELECT DISTINCT quote_ident(pg_get_userbyid(d.defaclrole)),
                    CASE d.defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'FUNCTIONS' ELSE 'TYPES' END
             FROM pg_default_acl d CROSS JOIN aclexplode(d.defaclacl) a
             WHERE d.defaclnamespace = 'docsearch'::regnamespace AND a.grantee = $1::oid AND pg_has_role(d.defaclrole, 'USAGE')
             ORDER BY 1, 2",
            &[DatumWithOid::from(self.id)],
            |row| Ok((row.required::<String>(1)?, row.required::<String>(2)?)),
        )?;
        for (of, kind) in defaults {
            let revoke = format!(
                "ALTER DEFAULT PRIVILEGES FOR ROLE {of} IN SCHEMA docsearch REVOKE ALL ON {kind} FROM {}",
                self.name
            );
            statement::utility(caller, &revoke)?;
        }
        Ok(())
    }

    fn revoke_models(&self, caller: &mut Caller) -> Result<()> {
        if !Part::ModelGrants.exists() {
            return Ok(());
        }
        model_grant::remove_role(caller, self.id)
    }

    /// Reports privileges that another role has to revoke, or that the role has through others.
    fn report_remaining(&self, caller: &Caller) -> Result<()> {
        let through = statement::rows(
            caller,
            &format!(
                "WITH granted AS ({GRANTED}), role AS (SELECT r.oid, r.rolsuper FROM pg_roles r WHERE r.oid = $1::oid)
                 SELECT 'it is a superuser' FROM role r WHERE r.rolsuper
                 UNION ALL
                 SELECT * FROM (
                     SELECT DISTINCT CASE
                         WHEN h.grantee = $1::oid THEN
                             format('%s was granted by %I', h.object, pg_get_userbyid(h.grantor))
                         WHEN h.grantee = 0 THEN 'PUBLIC has privileges in the schema'
                         ELSE format('it is a member of %I, which has privileges in the schema', pg_get_userbyid(h.grantee)) END
                     FROM (SELECT g.object, g.owner, g.grantee, g.grantor FROM granted g
                           UNION ALL SELECT '', n.nspowner, n.nspowner, n.nspowner FROM pg_namespace n WHERE n.nspname = 'docsearch'
                           UNION ALL SELECT '', 0, r.oid, 0 FROM pg_roles r
                           WHERE r.rolname IN ('pg_read_all_data', 'pg_write_all_data')) h
                     WHERE CASE WHEN h.grantee = $1::oid THEN h.owner <> $1::oid
                                WHEN h.grantee = 0 THEN true
                                ELSE EXISTS (SELECT FROM role r WHERE NOT r.rolsuper AND pg_has_role(r.oid, h.grantee, 'MEMBER')) END
                     ORDER BY 1) others
                 UNION ALL
                 SELECT format('policy %I of %s names it', p.polname, p.polrelid::regclass)
                 FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
                 WHERE c.relnamespace = 'docsearch'::regnamespace AND $1::oid <> 0 AND $1::oid = ANY (p.polroles)"
            ),
            &[DatumWithOid::from(self.id)],
            |row| row.required::<String>(1),
        )?;
        if !through.is_empty() {
            report::notice(
                format!(
                    "{} keeps privileges that grant_usage did not grant: {}",
                    self.name,
                    through.join("; ")
                ),
                "Revoke them from the roles that the message names, or as the roles that granted them.",
            );
        }
        Ok(())
    }
}
