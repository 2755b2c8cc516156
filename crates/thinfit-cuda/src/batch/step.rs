//! The kernels of a training step and of a validation, in their order.

use super::Fits;
use crate::device::{Number, Product, Queue};
use crate::parameters::{FEATURE_ROWS, Parameters};
use crate::shape::PART;
use crate::table::Table;
use thinfit::{Leaf, Precision, Result};

impl<T: Number> Fits<T> {
    fn features(&self, p: &Parameters) -> Result<()> {
        let rows = if p.parts > 1 { p.chunk } else { p.rows } as usize;
        let threads = if p.n <= 128 { 128 } else { 256 };
        let shared = 8 * FEATURE_ROWS * p.dim as usize;
        let grid = [rows.div_ceil(FEATURE_ROWS), p.runs as usize, 1];
        self.lane
            .launch(Queue::Main, "features", grid, [threads, 1], shared, p, &[])
    }

    /// w from z, where the leaf is not w itself.
    pub(super) fn generate(&self, leaf: Leaf, p: &Parameters) -> Result<()> {
        match leaf {
            Leaf::Weights | Leaf::Both => Ok(()),
            Leaf::Parameters | Leaf::Latents => self.layers.forward(&self.lane, p),
        }
    }

    /// b(w) from the training rows, unless b is a leaf; returns whether the planes of the last chunk stay.
    fn solve(&self, leaf: Leaf, p: &Parameters) -> Result<bool> {
        if leaf == Leaf::Both {
            return Ok(false);
        }
        let width = (p.k + p.c) as usize;
        let (chunk, ld, runs, parts) = (
            p.chunk as usize,
            p.ld as usize,
            p.runs as usize,
            p.parts as usize,
        );
        for p in self.train.chunks(p) {
            self.features(&p)?;
            let rows = if parts > 1 { PART } else { p.rows as usize };
            let product = Product {
                transposed: [false, true],
                sizes: [width, width, rows],
                at: [p.e, p.e, if parts > 1 { p.gram_parts } else { p.gram }],
                columns: [ld, ld, width],
                members: [chunk / parts * ld, chunk / parts * ld, width * width],
                count: runs * parts,
            };
            self.lane.multiply(Queue::Main, Precision::F64, &product)?;
            if parts > 1 {
                let grid = [(width * width).div_ceil(256), runs, 1];
                self.lane
                    .launch(Queue::Main, "combine", grid, [256, 1], 0, &p, &[])?;
            }
        }
        self.lane.launch(
            Queue::Main,
            "solve",
            [runs, 1, 1],
            [512, 1],
            self.shape.shared_solve(&self.lane.device),
            p,
            &[],
        )?;
        Ok(true)
    }

    /// One sweep over a table; the planes of a single chunk are there from the sweep before if `kept`.
    fn over_rows(
        &self,
        name: &'static str,
        table: &Table,
        kept: bool,
        shared: usize,
        p: &Parameters,
    ) -> Result<()> {
        let single = table.rows <= p.chunk as usize;
        for p in table.chunks(p) {
            if !(kept && single) {
                self.features(&p)?;
            }
            let grid = [p.groups as usize, p.runs as usize, 1];
            self.lane
                .launch(Queue::Main, name, grid, [256, 1], shared, &p, &[])?;
        }
        Ok(())
    }

    /// One training step.
    pub(super) fn step_once(&self, leaf: Leaf) -> Result<()> {
        let regularised = self.base.points > 0;
        let p = &Parameters {
            leaf: leaf as i32,
            wants_adjoint: 1,
            ..self.base
        };
        let (runs, count) = (p.runs as usize, self.shape.weights());
        if regularised {
            let blocks = (p.points as usize * p.d as usize).div_ceil(8 * 128);
            self.lane.fork()?;
            self.lane.launch(
                Queue::Aside,
                "scatter",
                [blocks, runs, 1],
                [128, 1],
                0,
                p,
                &[],
            )?;
        }
        if leaf == Leaf::Parameters {
            self.draw(p)?;
        }
        self.generate(leaf, p)?;
        let kept = self.solve(leaf, p)?;
        if regularised {
            let grid = [p.tiles as usize, runs, 1];
            self.lane.fork()?;
            self.lane.launch(
                Queue::Aside,
                "variation",
                grid,
                [128, 1],
                self.shape.shared_variation(),
                p,
                &[],
            )?;
        }
        self.over_rows(
            "residuals",
            &self.train,
            kept,
            self.shape.shared_residuals(),
            p,
        )?;
        if regularised {
            self.lane.join()?;
        }
        let room = match leaf {
            Leaf::Both => 0,
            _ => self.shape.shared_solve(&self.lane.device),
        };
        self.lane
            .launch(Queue::Main, "adjoint", [runs, 1, 1], [512, 1], room, p, &[])?;
        self.over_rows("sweep", &self.train, true, self.shape.shared_sweep(), p)?;
        self.lane.launch(
            Queue::Main,
            "collect",
            [count.div_ceil(32), runs, 1],
            [32, 8],
            0,
            p,
            &[],
        )?;
        self.layers.backward(&self.lane, leaf, p)?;
        if leaf == Leaf::Both {
            let grid = [self.shape.outputs().div_ceil(128), runs, 1];
            self.lane
                .launch(Queue::Main, "adam_output", grid, [128, 1], 0, p, &[])?;
        }
        let len = match leaf {
            Leaf::Parameters => self.layers.len,
            _ => count,
        };
        let blocks = len.div_ceil(1024);
        self.lane
            .launch(Queue::Main, "adam", [blocks, runs, 1], [256, 1], 0, p, &[])
    }

    fn draw(&self, p: &Parameters) -> Result<()> {
        let grid = [self.shape.weights().div_ceil(128), p.runs as usize, 1];
        self.lane
            .launch(Queue::Main, "draw", grid, [128, 1], 0, p, &[])
    }

    /// The error on the validation rows of one draw of latents.
    pub(super) fn validate_once(&self, leaf: Leaf) -> Result<()> {
        let p = &Parameters {
            leaf: leaf as i32,
            ..self.base
        };
        if leaf == Leaf::Parameters {
            self.draw(p)?;
        }
        self.generate(leaf, p)?;
        self.solve(leaf, p)?;
        self.over_rows(
            "residuals",
            &self.held,
            false,
            self.shape.shared_residuals(),
            p,
        )?;
        let p = &self.held.arguments(p);
        self.lane.launch(
            Queue::Main,
            "tally",
            [p.runs as usize, 1, 1],
            [1, 1],
            0,
            p,
            &[],
        )?;
        self.lane
            .launch(Queue::Main, "tick", [1, 1, 1], [1, 1], 0, p, &[])
    }
}
