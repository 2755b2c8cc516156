// A worker with one instance of the library: answers requests one by one. Texts cross the border as UTF-8.

const encoder = new TextEncoder(), decoder = new TextDecoder();
let library;

// The place comes first: where memory grows, the old buffer is gone.
const bytes = (place, length) => new Uint8Array(library.memory.buffer, place, length);
const read = (length) => decoder.decode(bytes(library.output(), length));
const write = (from) => bytes(library.input(from.length), from.length).set(from);

const host = {
  now: () => performance.now(),
  // What is said in the middle of a call.
  hear: (length) => postMessage({ said: JSON.parse(read(length)) }),
};

const answer = ({ request, file }) => {
  if (file) {
    write(new Uint8Array(file));
    library.keep();
  }
  write(encoder.encode(JSON.stringify(request)));
  return JSON.parse(read(library.call()));
};

onmessage = async ({ data }) => {
  try {
    if (data.module) {
      library = (await WebAssembly.instantiate(data.module, { host })).exports;
      postMessage({ id: data.id, answer: {} });
      return;
    }
    postMessage({ id: data.id, answer: answer(data) });
  } catch (error) {
    const message = `the library failed (${error.message}); reload the page, and use fewer samples or neurons if it fails again`;
    postMessage({ id: data.id, answer: { error: message } });
  }
};
