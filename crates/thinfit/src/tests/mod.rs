//! Tests that look inside: gradients against central differences, golden values, defining equations.

mod golden;
mod gradients;
