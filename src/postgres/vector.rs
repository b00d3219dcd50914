//! Results of the types `vector` and `vector[]` of pgvector.

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::prelude::*;

use crate::postgres::report::{Result, internal};

/// Most components of a `vector`.
const MAX_COMPONENTS: usize = 16_000;

/// A value of the type `vector`.
pub(crate) struct Vector(Vec<f32>);

/// A value of the type `vector[]`.
pub(crate) struct Vectors(pub(crate) Vec<Option<Vector>>);

impl Vector {
    /// The vector with these components.
    ///
    /// # Errors
    ///
    /// pgvector does not allow such a vector.
    pub(crate) fn new(components: Vec<f32>) -> Result<Self> {
        match (1..=MAX_COMPONENTS).contains(&components.len()) && components.iter().all(|number| number.is_finite()) {
            true => Ok(Self(components)),
            false => Err(internal("a model gave what is no vector")),
        }
    }

    /// The value in pgvector's format: its size, the number of components, two unused bytes, and the components.
    fn stored(&self) -> pg_sys::Datum {
        let size = pg_sys::VARHDRSZ + 2 * size_of::<u16>() + size_of_val(self.0.as_slice());
        let components = self.0.len() as u16;
        // SAFETY: the memory has this size, is aligned for any type, zeroed, and belongs to the call.
        unsafe {
            let stored = pg_sys::palloc0(size).cast::<u8>();
            pgrx::set_varsize_4b(stored.cast(), size as i32);
            stored.add(pg_sys::VARHDRSZ).cast::<u16>().write(components);
            let first = stored.add(pg_sys::VARHDRSZ + 2 * size_of::<u16>()).cast::<f32>();
            first.copy_from_nonoverlapping(self.0.as_ptr(), self.0.len());
            pg_sys::Datum::from(stored)
        }
    }
}

// SAFETY: functions with this result are declared with the type vector.
unsafe impl BoxRet for Vector {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: a vector.
        unsafe { fcinfo.return_raw_datum(self.stored()) }
    }
}

// SAFETY: functions with this result are declared with the type vector[].
unsafe impl BoxRet for Vectors {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        let mut nulls: Vec<bool> = self.0.iter().map(Option::is_none).collect();
        let mut elements: Vec<pg_sys::Datum> = self
            .0
            .iter()
            .map(|vector| vector.as_ref().map_or(pg_sys::Datum::from(0), Vector::stored))
            .collect();
        let (mut length, mut first) = (elements.len() as i32, 1);
        let (mut type_length, mut by_value, mut alignment) = (0, false, 0);
        // SAFETY: the function of the call returns an array of vectors; all pointers outlive the calls.
        unsafe {
            let function = (*(*fcinfo.as_mut_ptr()).flinfo).fn_oid;
            let element = pg_sys::get_element_type(pg_sys::get_func_rettype(function));
            pg_sys::get_typlenbyvalalign(element, &mut type_length, &mut by_value, &mut alignment);
            let array = pg_sys::construct_md_array(
                elements.as_mut_ptr(),
                nulls.as_mut_ptr(),
                1,
                &mut length,
                &mut first,
                element,
                type_length.into(),
                by_value,
                alignment,
            );
            fcinfo.return_raw_datum(pg_sys::Datum::from(array))
        }
    }
}

macro_rules! named {
    ($type:ident, $sql:literal) => {
        // SAFETY: functions with this result are declared by hand, with the schema of the type.
        unsafe impl SqlTranslatable for $type {
            const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!($type);
            const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
            const ARGUMENT_SQL: std::result::Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal($sql));
            const RETURN_SQL: std::result::Result<ReturnsRef, ReturnsError> =
                Ok(ReturnsRef::One(SqlMappingRef::literal($sql)));
        }
    };
}

named!(Vector, "vector");
named!(Vectors, "vector[]");
