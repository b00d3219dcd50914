//! Objects of the catalogs, whatever they are: tables, triggers, types, configurations.

use pgrx::pg_sys;

/// An object as `pg_depend` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// The catalog it stands in.
    pub(crate) class: pg_sys::Oid,
    pub(crate) id: pg_sys::Oid,
}

/// Drops objects together, so that their order does not matter, if nothing else depends on them (2BP01). Asks for no
/// right and fires no event trigger: whoever calls this has looked whether the caller may.
pub(crate) fn drop_together(objects: &[Object]) {
    // SAFETY: the list is Postgres's own and goes after the call; locks are taken and rows looked up again inside.
    unsafe {
        let addresses = pg_sys::new_object_addresses();
        for object in objects {
            let address = pg_sys::ObjectAddress {
                classId: object.class,
                objectId: object.id,
                objectSubId: 0,
            };
            pg_sys::add_exact_object_address(&address, addresses);
        }
        pg_sys::performMultipleDeletions(addresses, pg_sys::DropBehavior::DROP_RESTRICT, 0);
        pg_sys::free_object_addresses(addresses);
        pg_sys::CommandCounterIncrement();
    }
}
