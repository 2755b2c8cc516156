// The playground in a real browser, as web/build.sh has built it. THINFIT names the program to compare with.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { launch, shoot } from "./browser.js";

const SITE = fileURLToPath(new URL("../../target/site/playground/", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

const folder = mkdtempSync(join(tmpdir(), "thinfit-playground-"));
const thinfit = (...words) => execFileSync(process.env.THINFIT, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

let browser, server, address;
before(async () => {
  server = createServer(({ url }, reply) => {
    const path = new URL(url, "http://x").pathname, name = path === "/" ? "index.html" : path.slice(1);
    try {
      const body = readFileSync(join(SITE, name));
      reply.writeHead(200, { "content-type": TYPES[extname(name)] });
      reply.end(body);
    } catch {
      reply.writeHead(404);
      reply.end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Opens the page; `close` fails if it complained or asked another host.
const open = async (hash = "", { width = 1400, scheme = "light" } = {}) => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, acceptDownloads: true });
  const page = await context.newPage(), complaints = [];
  page.on("request", (request) => request.url().startsWith(address) || request.url().startsWith("blob:") || complaints.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(address + hash);
  await page.waitForFunction(() => document.getElementById("start").textContent !== "Loading…");
  const close = async () => {
    assert.deepEqual(complaints, []);
    await context.close();
  };
  return { page, close };
};

const number = (text) => Number(text.replaceAll("\u2212", "-"));
const errorOf = async (page, network) => number(await page.locator(`#${network} .error`).textContent());
const finished = (page, seconds = 300) => page.waitForFunction(() => !document.getElementById("save").disabled, null, { timeout: 1000 * seconds });
const give = (page, name, text) => page.setInputFiles("#file", { name, mimeType: "text/csv", buffer: Buffer.from(text) });

// Drops a file on the page, as a hand would.
const drop = (page, name, text) => page.evaluate(([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name, { type: "text/csv" }));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, text]);

test("it is small, runs everywhere, and is ready within two seconds", async () => {
  const names = ["index.html", "style.css", "page.js", "engine.js", "draw.js", "settings.js", "worker.js", "thinfit.wasm"];
  const { gzipSync } = await import("node:zlib");
  const bytes = names.reduce((sum, name) => sum + gzipSync(readFileSync(join(SITE, name)), { level: 9 }).length, 0);
  assert.ok(bytes <= 1e6, `${bytes} bytes compressed`);
  const library = new WebAssembly.Module(readFileSync(join(SITE, "thinfit.wasm")));
  const [features] = WebAssembly.Module.customSections(library, "target_features").map((bytes) => Buffer.from(bytes).toString("latin1"));
  assert.ok(features.includes("simd128") && !features.includes("relaxed"), features);
  assert.deepEqual(WebAssembly.Module.imports(library).map(({ name }) => name), ["now", "hear"]);
  const { page, close } = await open();
  const ready = await page.evaluate(() => performance.getEntriesByName("interactive")[0].startTime);
  assert.ok(ready < 2000, `${ready} ms`);
  console.log(`${bytes} bytes compressed, ready after ${ready.toFixed(0)} ms`);
  await close();
});

test("g2 is learned to 1e-5, and the plain network is left behind", async () => {
  const { page, close } = await open("#learn=g2");
  await page.locator("#start").click();
  await finished(page);
  const [thin, plain] = [await errorOf(page, "thin"), await errorOf(page, "plain")];
  assert.ok(thin < 1e-5, `thin ${thin}`);
  assert.ok(plain > 100 * thin, `plain ${plain}, thin ${thin}`);
  assert.equal(await page.locator("#indices .input").count(), 2);
  console.log(`g2: ${await page.locator("#thin .doing").textContent()}, error ${thin}; plain ${plain}`);
  await page.locator("#pause").click();
  await close();
});

test("a dropped table gives the model that the program fits", async () => {
  thinfit("data", "f1", "--rows", "150", "--seed", "3", "-o", "mine.csv");
  thinfit("data", "f1", "--rows", "400", "--seed", "3", "--test", "-o", "new.csv");
  const { page, close } = await open("#learn=table&width=30&seed=2");
  await drop(page, "mine.csv", readFileSync(join(folder, "mine.csv"), "utf8"));
  await page.waitForFunction(() => document.getElementById("target").value === "y");
  await page.locator("#polish").check();
  await page.locator("#start").click();
  await finished(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
  await download.saveAs(join(folder, "browser.json"));
  // The command that the page gives, on one thread.
  const words = (await page.locator("#command").inputValue()).split(" ");
  assert.deepEqual(words.slice(0, 3), ["thinfit", "fit", "mine.csv"]);
  assert.ok((await page.locator("#python").inputValue()).includes('pandas.read_csv("mine.csv", sep=None, engine="python")'));
  thinfit(...words.slice(1), "--threads", "1", "-o", "program.json", "--quiet");
  const predicted = (model) => thinfit("predict", model, "new.csv", "--quiet").trim().split("\n").slice(1).map((row) => Number(row.split(",")[0]));
  const [here, there] = [predicted("browser.json"), predicted("program.json")];
  const truth = readFileSync(join(folder, "new.csv"), "utf8").trim().split("\n").slice(1).map((row) => Number(row.split(",").at(-1)));
  const mean = truth.reduce((sum, v) => sum + v, 0) / truth.length;
  const deviation = Math.sqrt(truth.reduce((sum, v) => sum + (v - mean) ** 2, 0) / truth.length);
  const far = Math.max(...here.map((v, i) => Math.abs(v - there[i]))) / deviation;
  console.log(`largest difference from the program's own fit: ${far.toExponential(1)} deviations`);
  // A browser is another kind of processor: equally good, not the same (docs/limits.md).
  assert.ok(far < 1e-3, `${far}`);
  const miss = (values) => Math.sqrt(values.reduce((sum, v, i) => sum + (v - truth[i]) ** 2, 0) / values.length) / deviation;
  assert.ok(miss(here) < 10 * miss(there) + 1e-9, `${miss(here)} and ${miss(there)}`);
  await close();
});

test("a bad table gives the words of the program, and nothing of it runs", async () => {
  const tables = { "word.csv": "a,b,y\n1,2,3\n4,5,six\n", "gap.csv": "a,b,y\n1,2,3\n4,,6\n", "ragged.csv": "a,b,y\n1,2,3\n4,5\n", "empty.csv": "" };
  const { page, close } = await open();
  for (const [name, text] of Object.entries(tables)) {
    writeFileSync(join(folder, name), text);
    const { stderr, status } = spawnSync(process.env.THINFIT, ["fit", name, "--target", "y", "--method", "gft-r", "--inputs", "a,b"], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 2);
    await give(page, name, text);
    await page.waitForFunction((name) => document.getElementById("problem").textContent || document.getElementById("status").textContent.startsWith(name), name);
    if (await page.locator("#problem").textContent() === "") await page.locator("#start").click();
    await page.waitForFunction(() => document.getElementById("problem").textContent);
    // Remedies are in the words of the page.
    const said = await page.locator("#problem").textContent(), [problem] = said.split(";");
    assert.ok(stderr.includes(problem), `page: ${said}\nprogram: ${stderr}`);
  }
  const hostile = "<img src=x onerror=alert(1)>";
  await give(page, "<b>.csv", `"${hostile}",y\n1,2\n`);
  await page.waitForFunction(() => document.getElementById("target").length === 2);
  assert.ok((await page.locator("#inputs").textContent()).includes(hostile));
  assert.equal(await page.locator("#inputs img, #file-name b").count(), 0);
  await close();
});

test("settings survive a reload and the way back, and a link holds them", async () => {
  const { page, close } = await open();
  const values = () => page.evaluate(() => ["learn", "samples", "noise", "width", "seed", "activation"].map((id) => document.getElementById(id).value)
    .concat(document.getElementById("polish").checked));
  await page.locator("#learn").selectOption("f3");
  await page.locator("#samples").fill("321");
  await page.locator("#noise").fill("0.25");
  await page.locator("#width").fill("17");
  await page.locator("#seed").fill("9");
  await page.locator("#activation").selectOption("tanh");
  await page.locator("#polish").uncheck();
  const chosen = ["f3", "321", "0.25", "17", "9", "tanh", false];
  assert.deepEqual(await values(), chosen);
  const link = page.url();
  await page.reload();
  assert.deepEqual(await values(), chosen);
  assert.match(await page.locator("#command").inputValue(), /^thinfit data f3 --rows 321 --noise 0.25 --seed 9 -o train.csv &&\nthinfit fit train.csv /);
  await close();
  const other = await open(new URL(link).hash);
  assert.equal(await other.page.locator("#width").inputValue(), "17");
  await other.page.evaluate(() => (location.hash = "#learn=%3Cb%3E&width=-3&activation=magic&noise=x"));
  await other.page.waitForFunction(() => document.getElementById("learn").value === "g2");
  assert.deepEqual(await other.page.evaluate(() => ["width", "noise", "activation"].map((id) => document.getElementById(id).value)), ["100", "0", "fourier"]);
  await other.page.goBack();
  await other.page.waitForFunction(() => document.getElementById("learn").value === "f3");
  assert.equal(await other.page.locator("#width").inputValue(), "17");
  await other.close();
});

test("the keyboard pauses, steps and goes on", async () => {
  const { page, close } = await open("#learn=g1&samples=200&width=20");
  const step = async () => Number((await page.locator("#thin .doing").textContent()).match(/ ([\d,]+)\//)[1].replaceAll(",", ""));
  await page.locator("#seed").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#thin .error").textContent !== "–");
  await page.locator("#pause").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.getElementById("step").disabled);
  await page.waitForTimeout(400);
  const before = await step();
  await page.locator("#step").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((before) => !document.querySelector("#thin .doing").textContent.includes(` ${before.toLocaleString("en")}/`), before);
  assert.equal(await step(), before + 1);
  await page.locator("#pause").focus();
  await page.keyboard.press("Enter");
  await finished(page);
  await close();
});

test("to go on at once after a pause does not train twice", async () => {
  const { page, close } = await open("#learn=g1&samples=200&width=20");
  // The most slices that a network was asked for at a time.
  await page.evaluate(() => {
    globalThis.most = 0;
    globalThis.Worker = class extends Worker {
      asked = 0;
      constructor(...words) {
        super(...words);
        this.addEventListener("message", ({ data: { said, answer } }) => (this.asked -= !said && "mse" in (answer ?? {})));
      }
      postMessage(message, ...words) {
        this.asked += message.request?.do === "advance";
        globalThis.most = Math.max(globalThis.most, this.asked);
        super.postMessage(message, ...words);
      }
    };
  });
  await page.locator("#start").click();
  await page.waitForFunction(() => document.querySelector("#thin .error").textContent !== "–");
  await page.evaluate(() => { for (let k = 0; k < 4; k++) document.getElementById("pause").click(); });
  await page.waitForTimeout(500);
  assert.equal(await page.evaluate(() => globalThis.most), 1);
  await close();
});

test("everyone can read it, in both themes and on a phone", async () => {
  for (const scheme of ["light", "dark"]) for (const width of [1400, 390]) {
    const { page, close } = await open("#learn=g3&samples=200&width=30", { width, scheme });
    await page.locator("#start").click();
    await finished(page);
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} px: it is too wide`);
    await shoot(page, `playground-${width}-${scheme}`);
    await close();
  }
});
