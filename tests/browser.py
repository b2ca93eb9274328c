"""A real browser for the tests: Chromium without a window, told what to do over its debugging protocol."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

BINARY = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WHY_NOT = "Chromium is not installed (Debian: apt-get install chromium)"

# Contrast of every text with what lies behind it, as WCAG 2 counts it; returns what is below the limit.
CONTRAST = """
(() => {
  const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const light = ([r, g, b]) => {
    const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
  };
  const over = (top, below) => top.slice(0, 3).map((v, i) => v * top[3] + below[i] * (1 - top[3]));
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] >= 1 ? own.slice(0, 3) : over(own, behind(element.parentElement));
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((n) => n.nodeType === 3);
    const text = own.map((n) => n.textContent.trim()).join("");
    if (!text || element.closest("script, style")) continue;
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    if (!box.width || !box.height || style.visibility === "hidden" || style.display === "none") continue;
    const svg = element.namespaceURI.endsWith("svg");
    const ground = behind(svg ? element.closest("svg").parentElement : element);
    const ink = over(parse(svg ? style.fill : style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)} ${element.tagName} ${text.slice(0, 40)}`);
  }
  return bad;
})()
"""
# What sticks out of the page to the side, parts that scroll by themselves left aside.
OVERFLOW = """
(() => {
  const page = document.documentElement, wide = page.clientWidth, bad = [];
  if (page.scrollWidth > wide) bad.push(`page ${page.scrollWidth} > ${wide}`);
  const hides = (e) => /auto|scroll|hidden/.test(getComputedStyle(e).overflowX);
  const scrolls = (e) => e && (hides(e) || scrolls(e.parentElement));
  for (const e of document.querySelectorAll("main *")) {
    const box = e.getBoundingClientRect();
    const out = box.width && box.right > wide + 1 && !scrolls(e.parentElement);
    if (out) bad.push(`${e.tagName} ${e.className} ${box.right}`);
  }
  return bad;
})()
"""
# Texts that lie on each other: each with its own box, those that a person cannot see left aside.
OVERPRINT = """
(() => {
  const seen = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    const text = node.textContent.trim().slice(0, 30);
    if (!text || element.closest("script, style, .hidden, title, .verdict, option")) continue;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // What sticks out of a part of the page that scrolls, or ends in dots, is cut off there.
    let end = Infinity;
    for (let e = element; e; e = e.parentElement) {
      if (getComputedStyle(e).overflowX !== "visible") end = Math.min(end, e.getBoundingClientRect().right);
    }
    for (const box of range.getClientRects()) {
      const right = Math.min(box.right, end);
      if (right - box.left > 1) seen.push([box.left, box.top, right, box.bottom, text, node]);
    }
  }
  seen.sort((a, b) => a[1] - b[1]);
  const bad = [];
  seen.forEach((a, i) => {
    for (let j = i + 1; j < seen.length && seen[j][1] < a[3] - 2; j += 1) {
      const b = seen[j];
      const wide = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
      const tall = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
      // Boxes have some air around the letters.
      const share = tall / Math.min(a[3] - a[1], b[3] - b[1]);
      if (wide > 2 && share > 0.35 && a[5] !== b[5]) bad.push(`${a[4]} / ${b[4]}`);
    }
  });
  return bad;
})()
"""
# Tables that do not fit their part of the page, so that one would have to scroll to see all of them.
CUT_OFF = """
[...document.querySelectorAll("main .scroll, main pre")]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .map((e) => `${e.ariaLabel} ${e.scrollWidth} > ${e.clientWidth}`)
"""


class Browser:
    """One Chromium, one tab."""

    def __init__(self) -> None:
        import websocket

        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [
                BINARY, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={self.folder}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.socket = websocket.create_connection(self._address(), timeout=60)
        self.number, self.events = 0, []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _address(self) -> str:
        port_file = Path(self.folder) / "DevToolsActivePort"
        for _ in range(600):
            with contextlib.suppress(OSError, IndexError, StopIteration):
                port = port_file.read_text().split()[0]
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=5) as answer:
                    tabs = json.load(answer)
                return next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            time.sleep(0.1)
        raise RuntimeError("Chromium did not start")

    def call(self, method: str, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
            self.events.append(answer)

    def open(self, address: str, width: int = 1280, dark: bool = False) -> None:
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=address)
        for _ in range(600):
            if self.run("document.readyState") == "complete":
                return
            time.sleep(0.05)
        raise RuntimeError(f"{address} did not load")

    def run(self, script: str):
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def press(self, key: str) -> None:
        codes = {"Enter": 13, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, " ": 32}
        text = {"Enter": {"text": "\r"}, " ": {"text": " "}}.get(key, {})
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key],
                **(text if kind == "keyDown" else {}),
            )  # fmt: skip

    def problems(self) -> list[str]:
        """Return errors and warnings of the console since the page was opened."""
        self.run("0")
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(event["params"]["exceptionDetails"]["text"]))
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] in (
                "error",
                "warning",
            ):
                found.append(event["params"]["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in (
                "error",
                "warning",
            ):
                found.append(str(event["params"]["args"]))
        return found

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for, itself left aside."""
        self.run("0")
        asked = [
            e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"
        ]
        return asked[1:]

    def screenshot(self, path: Path) -> None:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        Path(path).write_bytes(base64.b64decode(picture))

    def close(self) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=20)
        shutil.rmtree(self.folder, ignore_errors=True)
