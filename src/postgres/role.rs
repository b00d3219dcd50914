//! The role that acts: every statement takes the role that it runs as, and a function takes the role that it needs.
//!
//! The owner of the tables can read documents that policies hide from the caller. So the caller is borrowed while the
//! owner acts, and a function that takes [`Caller`] cannot be called: its rows would contain what the caller must not
//! see. `statement/leaks.rs` has the mistakes that the compiler has to reject.

use std::cell::Cell;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use pgrx::prelude::*;

use crate::postgres::catalog;
use crate::postgres::owner::{AsOwner, AsUser, Confinement, no_tables};
use crate::postgres::report::{Result, error_with_hint, internal};

thread_local! {
    /// Number of roles that act in place of the caller of the running function.
    static IN_PLACE: Cell<u32> = const { Cell::new(0) };
}

/// A role that statements run as.
pub(crate) trait Role {
    /// Its OID. The role has to be the current user.
    fn id(&self) -> pg_sys::Oid {
        // SAFETY: reads the current user.
        unsafe { pg_sys::GetUserId() }
    }

    /// Its name; its number if it was dropped.
    fn name(&self) -> String {
        let id = self.id();
        // SAFETY: a terminated string in memory of the call, or null for a role that does not exist.
        unsafe {
            let name = pg_sys::GetUserNameFromId(id, true);
            match name.is_null() {
                true => id.to_u32().to_string(),
                false => CStr::from_ptr(name).to_string_lossy().into_owned(),
            }
        }
    }

    /// Whether it is a superuser.
    fn is_superuser(&self) -> bool {
        // SAFETY: reads the rights of the current user.
        unsafe { pg_sys::superuser() }
    }

    /// Has the owner of the tables act in its place.
    fn as_owner(&mut self) -> Result<Owner<'_>> {
        Ok(Owner::new(AsOwner::enter()?))
    }

    /// The same before there are tables: the owner of the schema acts.
    fn as_owner_without_tables(&mut self) -> Result<Owner<'_>> {
        Ok(Owner::new(AsOwner::without_tables()?))
    }

    /// Has the owner of the schema act in its place, who may create objects there.
    fn as_schema_owner(&mut self) -> Result<SchemaOwner<'_>> {
        Ok(SchemaOwner {
            _place: InPlace::new(AsOwner::of_schema()?),
        })
    }

    /// Has another role act as the caller, in a restricted operation.
    fn acting_as(&mut self, role: pg_sys::Oid) -> Result<ActingRole<'_>> {
        Ok(ActingRole {
            caller: Caller { _private: () },
            _place: InPlace::new(AsUser::acting_as(role)?),
        })
    }

    /// Has another role act whose code may run: see [`Confinement`].
    fn confined_to(&mut self, role: pg_sys::Oid) -> Result<Confined<'_>> {
        Ok(Confined {
            _place: InPlace::new(Confinement::enter(role)?),
        })
    }
}

/// The role that has called a function, or changed a table with a trigger. Policies apply to it.
#[derive(Debug)]
pub(crate) struct Caller {
    _private: (),
}

impl Caller {
    /// Begins a call from SQL, and is used nowhere else (`scripts/layers.py`): a second caller could be used while the
    /// first is borrowed.
    pub(crate) fn of_call() -> Result<Self> {
        if IN_PLACE.get() > 0 {
            return Err(internal("another role acts in place of the caller"));
        }
        Ok(Self { _private: () })
    }

    /// Raises an error if the caller may not write documents, before the owner acts for it.
    pub(crate) fn require_writer(&self) -> Result<()> {
        let documents = catalog::table(c"document").ok_or_else(no_tables)?;
        // SAFETY: the table and the role exist.
        let may = unsafe { pg_sys::pg_class_aclcheck(documents, self.id(), pg_sys::ACL_INSERT.into()) };
        if may == pg_sys::AclResult::ACLCHECK_OK {
            return Ok(());
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            "permission denied to change the statistics of documents",
            "Ask the owner of schema docsearch to run: SELECT docsearch.grant_usage('your role', write => true).",
        ))
    }
}

impl Role for Caller {}

/// The owner of the tables, which runs statements until this is dropped. Policies do not apply to it.
pub(crate) struct Owner<'a> {
    caller: Caller,
    _place: InPlace<'a, AsOwner>,
}

impl Owner<'_> {
    fn new(guard: AsOwner) -> Self {
        Self {
            caller: Caller { _private: () },
            _place: InPlace::new(guard),
        }
    }

    /// Makes the owner itself the caller, in a process or function without another one.
    pub(crate) fn as_caller(&mut self) -> &mut Caller {
        &mut self.caller
    }
}

impl Owner<'static> {
    /// In a process that has no caller, or has given up its user.
    pub(super) fn restricted() -> Result<Self> {
        Ok(Self::new(AsOwner::restricted()?))
    }
}

impl Role for Owner<'_> {}

/// The owner of the schema, which runs statements until this is dropped.
pub(crate) struct SchemaOwner<'a> {
    _place: InPlace<'a, AsOwner>,
}

impl Role for SchemaOwner<'_> {}

/// Another role that is the caller until this is dropped: policies apply to it.
pub(crate) struct ActingRole<'a> {
    caller: Caller,
    _place: InPlace<'a, AsUser>,
}

impl Deref for ActingRole<'_> {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl DerefMut for ActingRole<'_> {
    fn deref_mut(&mut self) -> &mut Caller {
        &mut self.caller
    }
}

/// Another role whose code may run, and which runs statements until this is dropped.
pub(crate) struct Confined<'a> {
    _place: InPlace<'a, Confinement>,
}

impl Role for Confined<'_> {}

/// A guard under which one role acts while another is borrowed.
struct InPlace<'a, G> {
    _guard: G,
    _borrowed: PhantomData<&'a mut Caller>,
}

impl<G> InPlace<'_, G> {
    fn new(guard: G) -> Self {
        IN_PLACE.set(IN_PLACE.get() + 1);
        Self {
            _guard: guard,
            _borrowed: PhantomData,
        }
    }
}

// Without this, the borrow would end with the last use of the role, and the guard only with its block.
impl<G> Drop for InPlace<'_, G> {
    fn drop(&mut self) {
        IN_PLACE.set(IN_PLACE.get() - 1);
    }
}

/// While this lives, a statement runs. Functions that it calls have a caller of their own: the role that it runs as.
pub(super) struct InStatement {
    in_place: u32,
}

impl InStatement {
    pub(super) fn begin() -> Self {
        Self {
            in_place: IN_PLACE.replace(0),
        }
    }
}

impl Drop for InStatement {
    fn drop(&mut self) {
        IN_PLACE.set(self.in_place);
    }
}

#[cfg(feature = "pg_test")]
mod tests;
