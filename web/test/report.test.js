// Reports in a real browser: what the sliders show is what the program predicts, nothing leaves the page, nothing of a stranger
// runs in it, and people who cannot see or use a mouse can read it.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { launch, shoot } from "./browser.js";
import { HOSTILE, folder, hostileReports, readTable, remove, reports, samples, table, thinfit } from "./fixtures.js";

let browser, made, hostile;
before(async () => {
  made = reports();
  hostile = hostileReports();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  remove();
});

// Opens a report; `close` fails if the page asked for anything but itself or complained.
const open = async (name, { width = 1400, scheme = "light" } = {}) => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage(), address = pathToFileURL(join(folder, `${name}.html`)).href;
  const requests = [], complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById("progress").textContent === "");
  const close = async () => {
    assert.deepEqual(requests, [address]);
    assert.deepEqual(complaints, []);
    await context.close();
  };
  return { page, close };
};

const plain = (text) => Number(text.replaceAll("\u2212", "-"));

// The unit of the last digit of a number as shown.
const unit = (text) => {
  const [digits, exponent = "0"] = text.replaceAll("\u2212", "-").split("e");
  return 10 ** (Number(exponent) - (digits.split(".")[1] ?? "").length);
};

// Whether the shown text is the number, rounded to its last digit.
const agrees = (text, number, what) => {
  const distance = Math.abs(plain(text) - number) / unit(text);
  assert.ok(distance <= 0.51, `${what}: shown ${text}, predicted ${number}`);
};

// What the page shows: the inputs as typed, the prediction, the bounds and half the width.
const shown = (page) => page.evaluate(() => ({
  inputs: [...document.querySelectorAll(".card")].map((card) => [card.querySelector("label").textContent, card.querySelector(".card-head input").value]),
  answer: document.getElementById("answer").textContent,
  bounds: document.getElementById("bounds").textContent,
}));

test("every slider shows what the program predicts, with its interval, to the last digit", async () => {
  for (const { name, outputs } of made) {
    const { page, close } = await open(name);
    const seen = [], before = (await shown(page)).answer;
    for (let o = 0; o < outputs; o++) {
      if (outputs > 1) await page.locator("[role=tab]").nth(o).click();
      const sliders = page.locator("input[type=range]");
      for (let k = 0; k < await sliders.count(); k++) {
        await sliders.nth(k).focus();
        await page.keyboard.press("Home");
        const last = (await shown(page)).answer;
        for (const key of ["End", "ArrowLeft", "PageDown", "PageDown"]) await page.keyboard.press(key);
        const now = await shown(page);
        assert.notEqual(now.answer, last, `${name}: slider ${k} changes nothing`);
        seen.push({ o, ...now });
      }
      await page.locator(".card-head input").first().fill("0.123456");
      await page.locator("#level").selectOption({ label: "80 %" });
      seen.push({ o, level: "0.8", ...(await shown(page)) });
      await page.locator("#level").selectOption({ label: "90 %" });
    }
    assert.notEqual(before, "");
    for (const level of ["0.9", "0.8"]) {
      const some = seen.filter((entry) => (entry.level ?? "0.9") === level);
      const header = some[0].inputs.map(([input]) => input);
      const cells = some.map(({ inputs }) => header.map((input) => Number(inputs.find(([other]) => other === input)[1])));
      table("asked.csv", header, cells);
      thinfit("predict", `${name}.json`, "asked.csv", "--interval", level, "-o", "answered.csv", "--quiet");
      const answers = readTable("answered.csv").rows;
      some.forEach(({ o, answer, bounds }, i) => {
        const [f, low, high] = answers[i].slice(3 * o, 3 * o + 3), what = `${name}, output ${o}, row ${i}`;
        agrees(answer, f, what);
        // What is typed may lie outside the samples; a slider never does.
        if (bounds === "no interval outside the samples") return assert.equal(level, "0.8", what);
        const [, about] = bounds.match(/^\u00b1 about (\S+): rounding/) ?? [];
        if (about) {
          assert.ok(Math.abs(plain(about) / ((high - low) / 2) - 1) < 0.6, `${what}: ${bounds} ${high - low}`);
          return;
        }
        const found = bounds.match(/^(?:(\S+) to (\S+) \()?\u00b1 ([^\s)]+)\)?$/);
        assert.ok(found, `${what}: ${bounds}`);
        const [, from, to, half] = found;
        if (from) {
          agrees(from, low, `${what}, low`);
          agrees(to, high, `${what}, high`);
        }
        agrees(half, (high - low) / 2, `${what}, half`);
      });
    }
    await close();
  }
});

test("the parts of a report are there, and say whether the rows are those of the fit", async () => {
  for (const { name, data, seen, outputs } of made) {
    const { page, close } = await open(name);
    const words = await page.locator("main").innerText();
    for (const part of ["What was learned", "Try it", "Two inputs at a time", "Which inputs matter", "Where more rows would help",
      "Structure of the model", "Export"]) {
      assert.ok(words.includes(part), `${name}: ${part}`);
    }
    assert.equal(words.includes("Comparison with data"), Boolean(data));
    assert.equal(words.includes("These are the rows that the model was fitted to"), Boolean(seen), name);
    assert.equal(await page.locator("[role=tab]").count(), outputs > 1 ? outputs : 0);
    const drawn = await page.evaluate(() => document.getElementById("contour").getContext("2d").getImageData(100, 100, 1, 1).data[3]);
    assert.equal(drawn, 255, `${name}: the contour is painted`);
    if (data) {
      await page.locator("#truth").focus();
      await page.keyboard.press("ArrowRight");
      assert.match(await page.locator("#hover").innerText(), /^Row \d+: measured/);
      const worst = await page.locator("#worst tbody tr").first().locator("td").first().innerText();
      assert.ok((await page.locator("#hover").innerText()).startsWith(`Row ${worst}:`));
      await page.locator("#worst button").first().click();
    }
    // Every language, as the program exports it.
    for (const [language, to, extension] of [["JavaScript", "js", "js"], ["Python", "python", "py"], ["C", "c", "c"], ["Formula", "latex", "tex"]]) {
      await page.locator("#language").selectOption({ label: language });
      const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
      const digits = to === "latex" ? ["--digits", "5"] : [];
      thinfit("export", `${name}.json`, "--to", to, ...digits, "-o", `model.${extension}`);
      const text = readFileSync(await download.path(), "utf8");
      assert.equal(text, readFileSync(join(folder, `model.${extension}`), "utf8"), `${name} ${language}`);
    }
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.locator("#copy").click();
    await page.waitForFunction(() => document.getElementById("copied").textContent.startsWith("Copied"));
    await close();
  }
});

test("people can read it: axe finds nothing in both themes, nothing is wider than a phone", async () => {
  for (const [name, scheme, width] of [["network-1", "light", 1400], ["network-2", "dark", 1400], ["process-2", "light", 390],
    ["hostile", "dark", 390], ["stranger", "light", 390]]) {
    const { page, close } = await open(name, { width, scheme });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} pixels wider than the window`);
    for (const flip of [false, true]) {
      if (flip) await page.locator("#theme").click();
      // The policy lets no script in but through the debugger.
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" ")).slice(0, 3)]), [], `${name} ${scheme} ${flip}`);
    }
    await close();
  }
});

test("names and cells of strangers are text: nothing runs, nothing breaks", async () => {
  for (const name of hostile) {
    const { page, close } = await open(name);
    assert.ok((await page.title()).endsWith("\u00b7 thinfit"), "no payload ran");
    assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
    assert.equal(await page.locator("script").count(), 3);
    const words = await page.locator("body").innerText();
    assert.ok(HOSTILE.some((payload) => words.includes(payload)), "they are shown as they are");
    assert.ok(!/[\u202a-\u202e\u2066-\u2069\u2028\u2029]/.test(words), "nothing turns the reading around");
    assert.notEqual(await page.locator("#answer").innerText(), "");
    await close();
  }
});

test("a report is small, and stays smooth with ten thousand rows", async () => {
  const rows = samples(10_000, 0.1).map((row) => row.slice(0, 4));
  table("many.csv", ["angle", "temperature [K]", "offset", "lift"], rows);
  thinfit("report", "network-1.json", "many.csv", "-o", "many.html");
  thinfit("report", "network-1.json", "-o", "alone.html");
  assert.ok(statSync(join(folder, "alone.html")).size < 300_000);
  const { page, close } = await open("many");
  const box = await page.locator("#truth").boundingBox();
  const slowest = await page.evaluate(async ({ x, y }) => {
    const canvas = document.getElementById("truth");
    canvas.scrollIntoView();
    const frame = canvas.getBoundingClientRect();
    let most = 0;
    for (let k = 1; k < 20; k++) {
      const start = performance.now();
      canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: frame.left + k * 20, clientY: frame.top + 300 - k * 10, bubbles: true }));
      most = Math.max(most, performance.now() - start);
      await new Promise(requestAnimationFrame);
    }
    return most;
  }, box);
  assert.ok(slowest < 250, `a move took ${slowest} ms`);
  await close();
});

test("paper gets everything at once, in light colours, and the screen its theme again", async () => {
  const { page, close } = await open("network-2", { width: 390, scheme: "dark" });
  const found = await page.evaluate(() => {
    const canvas = document.getElementById("contour"), root = document.documentElement.dataset;
    canvas.width = canvas.width;
    dispatchEvent(new Event("beforeprint"));
    const painted = canvas.getContext("2d").getImageData(canvas.width / 3, canvas.height / 2, 1, 1).data[3], theme = root.theme;
    dispatchEvent(new Event("afterprint"));
    return [painted, theme, root.theme];
  });
  assert.deepEqual(found, [255, "light", "dark"]);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#worst .act").first().isVisible(), false);
  assert.equal(await page.evaluate(() => getComputedStyle(document.getElementById("worst")).overflowX), "visible");
  assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
  await close();
});

test("what is typed is a number, or is told why not; inputs of the contour change places", async () => {
  const { page, close } = await open("network-1");
  const field = page.locator(".card-head input").first(), problem = page.locator(".card p").first();
  const before = await page.locator("#answer").innerText();
  for (const text of ["1,234", "abc", ""]) {
    await field.fill(text);
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    assert.equal(await field.getAttribute("aria-describedby"), await problem.getAttribute("id"));
    assert.notEqual(await problem.innerText(), "");
    assert.equal(await page.locator("#answer").innerText(), before);
  }
  await field.fill("0,25");
  assert.equal(await field.getAttribute("aria-invalid"), "false");
  assert.equal(await problem.innerText(), "");
  const chosen = () => page.evaluate(() => ["pair-x", "pair-y"].map((id) => document.getElementById(id).value));
  const [x, y] = await chosen();
  await page.locator("#pair-x").selectOption(y);
  assert.deepEqual(await chosen(), [y, x]);
  await page.locator("#worst button").first().click();
  assert.equal(await page.evaluate(() => document.activeElement.id), "h-try");
  await close();
});

test("screenshots", { skip: !process.env.SCREENSHOTS }, async () => {
  for (const name of [...made.map(({ name }) => name), ...hostile]) {
    for (const [width, scheme] of [[1400, "light"], [1400, "dark"], [390, "light"], [390, "dark"]]) {
      const { page, close } = await open(name, { width, scheme });
      await page.waitForTimeout(400);
      await shoot(page, `${name}-${width}-${scheme}`);
      await close();
    }
  }
});
