//! Objects of the catalogs of any kind: tables, triggers, types, configurations.

use pgrx::pg_sys;

/// An object as `pg_depend` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// The catalog that it is in.
    pub(crate) class: pg_sys::Oid,
    pub(crate) id: pg_sys::Oid,
}

/// Drops objects together, in any order, if nothing else depends on them (2BP01). Checks no rights and fires no event
/// trigger: the caller of this function has to check them.
pub(crate) fn drop_together(objects: &[Object]) {
    // SAFETY: Postgres allocates the list, which is freed after the call; objects are locked and looked up again
    // inside.
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
