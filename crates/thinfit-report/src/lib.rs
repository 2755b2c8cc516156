//! A fitted model as one HTML page, for the person who paid for the simulation: what was learned and how sure it is,
//! with a slider for every input.
//!
//! The page is one file that works offline and sends no requests. The files in `page/` are the same for every model;
//! what differs is a block of JSON, its content, and the model as the JavaScript of `thinfit-export`, which the page
//! runs and offers to copy. Texts of tables and models are data: the page shows them as text, and its content
//! security policy allows only its own three scripts.

mod content;
mod control;
mod digest;
mod doubles;
mod features;
mod importance;
mod languages;
mod page;
mod quality;
mod rows;
mod suggested_samples;
mod thin;
mod uncertainty;

pub use page::page;
pub use rows::Rows;

#[cfg(test)]
mod tests;
