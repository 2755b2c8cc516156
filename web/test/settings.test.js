// The settings of the playground without a browser: what a link may say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fragment, parsed, read, show } from "../playground/settings.js";

// The fields of the page, as far as settings.js uses them.
const ACTIVATIONS = ["fourier", "cosine", "sigmoid", "tanh", "relu"];
const page = () => {
  const fields = {};
  for (const name of ["learn", "polish", "samples", "noise", "width", "seed"])
    fields[name] = { checkValidity: () => true, get valueAsNumber() { return Number(this.value); } };
  fields.activation = { get selectedIndex() { return ACTIVATIONS.indexOf(this.value); } };
  globalThis.document = { getElementById: (name) => fields[name] };
  return fields;
};

test("a link that names a property every object inherits shows the usual settings", () => {
  const usual = { learn: "g2", samples: 2000, noise: 0, width: 100, seed: 1, activation: "fourier", polish: false };
  for (const name of ["toString", "constructor", "__proto__", "hasOwnProperty"]) {
    page();
    show(parsed(`#learn=${name}&activation=${name}&samples=${name}`));
    assert.deepEqual(read(), usual, name);
  }
});

test("a link gives back the settings that made it", () => {
  page();
  const settings = { learn: "f3", samples: 700, noise: 0.5, width: 30, seed: 4, activation: "tanh", polish: true };
  show(parsed(fragment(settings)));
  assert.deepEqual(read(), settings);
});
