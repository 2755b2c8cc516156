// A fit in a worker. Requests are answered in order; a problem is an Error in the words of the library.

export class Engine {
  #worker = new Worker(new URL("worker.js", import.meta.url));
  #waiting = new Map();
  #next = 0;
  #loaded;

  // `module` is the compiled library, `heard` is called with what it says in the middle of a request.
  constructor(module, heard) {
    this.#worker.onmessage = ({ data: { id, answer, said } }) => {
      if (said) return heard(said);
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      answer.error === undefined ? resolve(answer) : reject(new Error(answer.error));
    };
    this.#loaded = this.#send({ module });
    // Whoever asks first is told.
    this.#loaded.catch(() => {});
  }

  #send(message) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...message });
    });
  }

  // The answer to a request; `file` is kept by the library before it.
  async ask(request, file) {
    await this.#loaded;
    return this.#send({ request, file });
  }

  // Ends the fit wherever it is.
  end() {
    this.#worker.terminate();
  }
}
