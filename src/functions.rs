//! Every function, trigger and parser that SQL sees: arguments in, values out. Nothing here is called by others.

mod answer_prompt;
mod attach;
mod check;
mod deferred;
mod document;
mod explain;
mod grade;
mod identifier;
mod index;
mod inference;
mod invariants;
mod known_faults;
mod language_model;
mod migration;
mod model;
mod model_grant;
mod parser;
mod project;
mod refine;
mod rules;
mod search;
mod set_model;
mod settings;
mod statistics;
mod suggest;
mod transform;
