//! Transfers the leaves of a run and their Adam moments to the device and back.

use super::Fits;
use crate::device::{Buffer, Number};
use crate::shape::Shape;
use thinfit::pieces::{Snapshot, Values};
use thinfit::{Leaf, Result};

impl<T: Number> Fits<T> {
    /// Overwrites the leaves of a run by those of a snapshot, and the moments of `leaf` where it has any.
    pub(super) fn restore(&mut self, run: usize, from: &Snapshot, leaf: Leaf) -> Result<()> {
        let (len, count) = (self.layers.len, self.shape.weights());
        let mut theta = vec![T::ZERO; len];
        from.theta.unpack(&mut theta)?;
        let mut z = vec![T::ZERO; count];
        from.z.unpack(&mut z)?;
        let mut w = vec![0.0; count];
        Values::F64(from.w.clone()).unpack(&mut w)?;
        self.lane
            .write(&mut self.layers.theta, run * self.layers.stride, &theta)?;
        self.lane.write(&mut self.z, run * count, &z)?;
        self.lane.write(&mut self.w, run * count, &w)?;
        if leaf == Leaf::Both {
            self.set_output(run, &from.b)?;
        }
        if let Some(moments) = &from.moments {
            self.set_moments(run, leaf, moments)?;
            self.lane.write(&mut self.steps, run, &[from.steps])?;
        }
        self.lane.wait()
    }

    /// Overwrites b of a run where it is a leaf.
    pub(super) fn set_output(&mut self, run: usize, from: &[f64]) -> Result<()> {
        let Shape {
            activation, n, k, ..
        } = self.shape;
        let mut leaf = vec![0.0; self.shape.outputs()];
        Values::F64(from.to_vec()).unpack(&mut leaf)?;
        let bias = |i: usize| activation.has_bias() && i % k == n;
        let factor = |i: usize| if bias(i) { 1.0 } else { n as f64 };
        let b: Vec<f64> = (leaf.iter().enumerate())
            .map(|(i, b)| factor(i) * b)
            .collect();
        let at = run * leaf.len();
        self.lane.write(&mut self.leaf_b, at, &leaf)?;
        self.lane.write(&mut self.b, at, &b)
    }

    pub(super) fn set_moments(
        &mut self,
        run: usize,
        leaf: Leaf,
        moments: &[Values; 2],
    ) -> Result<()> {
        let (len, count) = (self.leaf_len(leaf), self.shape.weights());
        for (i, moment) in moments.iter().enumerate() {
            if matches!(leaf, Leaf::Weights | Leaf::Both) {
                let mut values = vec![0.0; len];
                moment.unpack(&mut values)?;
                let (w, b) = values.split_at(count);
                self.lane.write(&mut self.moments_w[i], run * count, w)?;
                self.lane.write(&mut self.moments_b[i], run * b.len(), b)?;
            } else {
                let mut values = vec![T::ZERO; len];
                moment.unpack(&mut values)?;
                let theta = leaf == Leaf::Parameters;
                let (all, stride) = match theta {
                    true => (&mut self.moments_theta, self.layers.stride),
                    false => (&mut self.moments_z, len),
                };
                self.lane.write(&mut all[i], run * stride, &values)?;
            }
        }
        Ok(())
    }

    pub(super) fn leaf_len(&self, leaf: Leaf) -> usize {
        match leaf {
            Leaf::Parameters => self.layers.len,
            Leaf::Latents | Leaf::Weights => self.shape.weights(),
            Leaf::Both => self.shape.weights() + self.shape.outputs(),
        }
    }

    /// A copy of the leaves of a run, with the moments of the one that moves if they are wanted.
    pub(super) fn copy_of(&self, run: usize, moments: bool) -> Result<Snapshot> {
        let (leaf, count, len) = (self.leaves[run], self.shape.weights(), self.layers.len);
        let pack = |buffer: &Buffer<T>, stride: usize, len: usize| -> Result<Values> {
            let values = self.lane.read(buffer, run * stride, len)?;
            Ok(Values::pack(&values, T::PRECISION))
        };
        let stride = self.layers.stride;
        // b is no leaf elsewhere.
        let outputs = match leaf {
            Leaf::Both => self.shape.outputs(),
            _ => 0,
        };
        let both = || -> Result<[Values; 2]> {
            Ok(match leaf {
                Leaf::Parameters => [
                    pack(&self.moments_theta[0], stride, len)?,
                    pack(&self.moments_theta[1], stride, len)?,
                ],
                Leaf::Latents => [
                    pack(&self.moments_z[0], count, count)?,
                    pack(&self.moments_z[1], count, count)?,
                ],
                Leaf::Weights | Leaf::Both => {
                    let read = |i: usize| -> Result<Values> {
                        let w = self.lane.read(&self.moments_w[i], run * count, count)?;
                        let b = self.lane.read(&self.moments_b[i], run * outputs, outputs)?;
                        Ok(Values::F64([w, b].concat()))
                    };
                    [read(0)?, read(1)?]
                }
            })
        };
        Ok(Snapshot {
            theta: pack(&self.layers.theta, stride, len)?,
            z: pack(&self.z, count, count)?,
            w: self.lane.read(&self.w, run * count, count)?,
            b: self.lane.read(&self.leaf_b, run * outputs, outputs)?,
            moments: moments.then(both).transpose()?,
            steps: self.lane.read(&self.steps, run, 1)?[0],
            raised: self.lane.read(&self.raised, run, 1)?[0] as usize,
        })
    }
}
