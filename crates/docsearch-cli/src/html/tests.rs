//! Pages as the generators write them.
