import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliRuns } from "../records.ts";
import { runCli, script } from "./run-cli.ts";

/** Text that would be markup, script or style, were it not escaped in content, in attributes and in names. */
const hostile = `</pre></script></style><script>window.hit=1</script><img src=x onerror=window.hit=1>"'><svg onload=window.hit=1><style>body{display:none}</style>\u202Eevil`;

const path = "<b onclick='window.hit=1'>.txt";

const patient = { timeout: 30_000 };
const env = { VIEW_API_KEY: "sk-view-0123456789" };
let cwd: string;

/** A run whose every text is hostile: its prompt, its file names, its results, its denial and its end. */
beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), "llm-do-view-")));
  const files = {
    "main.worker": `---\nmodel: scripted:script.yaml\ntoolsets: { filesystem: {} }\n---\n${hostile}\n`,
    "script.yaml": script({
      main: [
        { reasoning: hostile, text: hostile, calls: [{ tool: "read_file", args: { path: "a.txt" } }] },
        { text: hostile, calls: [{ tool: "write_file", args: { path, content: `${hostile}\n${"long ".repeat(5000)}` } }] },
        { text: hostile },
      ],
    }),
    "a.txt": `${hostile} ${env.VIEW_API_KEY}`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  const run = await runCli([".", "--reject-all", "--quiet", hostile], { cwd, env });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((one) => existsSync(one));

test("writes the page into the run's folder, for its owner alone, prints its path, and opens it", async () => {
  const bin = join(cwd, "bin");
  await mkdir(bin);
  await writeFile(
    join(bin, "xdg-open"),
    `#!/bin/sh\nprintf %s "$1" > "${cwd}/opened.part" && mv "${cwd}/opened.part" "${cwd}/opened"\n`,
  );
  await chmod(join(bin, "xdg-open"), 0o755);
  const screen = { ...env, DISPLAY: ":0", PATH: `${bin}:${process.env["PATH"]}` };
  const { exitCode, stdout, stderr } = await runCli(["view"], { cwd, env: screen });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const page = stdout.trimEnd();
  expect(page).toBe(join(await realpath(cliRuns(cwd)), page.split("/").at(-3) ?? "", "pages/view.html"));
  expect((await stat(page)).mode & 0o777).toBe(0o600);
  await expect.poll(() => readFile(join(cwd, "opened"), "utf8").catch(() => ""), patient).toBe(page);
  const missing = await runCli(["view", "no-such-run"], { cwd });
  expect(missing).toMatchObject({ exitCode: 2, stdout: "" });
  expect(missing.stderr).toContain("llm-do runs list");
});

describe.skipIf(chromiumPath === undefined)(`in a browser${chromiumPath ? "" : " (skipped: there is no Chromium)"}`, () => {
  let browser: Browser;
  let file: string;

  beforeAll(async () => {
    file = join(cwd, "page.html");
    expect(await runCli(["view", "last", "--no-open", "--out", "page.html"], { cwd, env })).toMatchObject({ exitCode: 0 });
    const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"];
    const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-sync", ...quiet];
    browser = await chromium.launch({ executablePath: chromiumPath ?? "", args });
  });

  afterAll(() => browser?.close());

  /** Opens the page; `problems` are what the browser refused or could not do. */
  async function open(width: number, colorScheme: "light" | "dark" = "light"): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
    const problems: string[] = [];
    page.on("console", (message) => problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => request.url().startsWith("file:") || problems.push(request.url()));
    await page.goto(pathToFileURL(file).href);
    return { page, problems };
  }

  test("shows hostile text as text, and loads and runs nothing of it", async () => {
    const { page, problems } = await open(1280);
    await page.keyboard.press("e");
    expect(await page.evaluate("window.hit")).toBeUndefined();
    expect(problems).toEqual([]);
    const shown = await page.locator("main").textContent();
    expect(shown).toContain("</pre></script></style><script>window.hit=1</script><img src=x onerror=window.hit=1>");
    expect(shown).toContain("\\u{202E}evil");
    expect(shown).toContain("denied by reject_all");
    expect(shown).toContain("write_file#1");
    expect(shown).toContain("VIEW_API_KEY");
    expect(shown).not.toContain("sk-view-0123456789");
    expect(await page.locator("main img, main svg[onload], main script, main style").count()).toBe(0);
    expect(await page.evaluate("getComputedStyle(document.body).display")).toBe("block");
  });

  test("refuses a script and a style that somebody puts into the page", async () => {
    const { page, problems } = await open(1280);
    await page.evaluate(
      `document.body.insertAdjacentHTML("beforeend", '<p style="display:none" onclick="window.hit=1">added</p>')`,
    );
    await page.locator("text=added").click();
    expect(await page.evaluate("window.hit")).toBeUndefined();
    expect(problems.join("\n")).toMatch(/Content Security Policy/);
  });

  test("goes from call to call and from approval to approval by keys, and filters", async () => {
    const { page } = await open(1280);
    const current = () => page.locator("#tree .current").textContent();
    await page.keyboard.press("j");
    await expect.poll(current, patient).toContain("main");
    await page.keyboard.press("j");
    await expect.poll(current, patient).toContain("read_file#0");
    await page.keyboard.press("a");
    await expect.poll(current, patient).toContain("write_file#1");
    expect(await page.locator("details.tool.denied[open]").count()).toBe(1);
    await page.keyboard.press("/");
    await page.keyboard.type("read_f");
    expect(await page.locator("#tree li:visible").count()).toBe(1);
  });

  test("fits a phone, and has a dark form", async () => {
    const { page } = await open(390, "dark");
    await page.keyboard.press("e");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    const dark = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    const { page: light } = await open(390);
    expect(await light.evaluate("getComputedStyle(document.body).backgroundColor")).not.toBe(dark);
  });
});
