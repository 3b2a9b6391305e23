"""Modules joined to one script: it does what they do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modules.web.http.script_bundle import PageScripts, bundled
from tests.static.test_static import node

MODULES = {
    "a/main.js": """\
// The beginning.

import { one, two as second } from "../b/numbers.js";
import {
  Class,
  late,
} from "../b/numbers.js";
import { three } from "./again.js";
import "./effect.js";

/** @type {import("../missing.js").Never} */
const names = [one, second(), three, new Class().name, await late()];
const { default: library } = await import("../vendor/good@1.0/good.js");
const other = await import("../vendor/other@1.0/other.js").catch(() => "none");
const found = [];
for (const name of ["x", "y"]) found.push((await import(`../vendor/good@1.0/${name}.js`)).default);
console.log(JSON.stringify([names, library.says, other, found, globalThis.times, "</script><!--"]));
""",
    "a/again.js": 'export { two as three } from "../b/more.js";\n',
    "a/effect.js": "globalThis.times = (globalThis.times ?? 0) + 1;\n",
    "b/numbers.js": """\
import "../a/effect.js";
export const one = 1;
export function two() {
  return 2;
}
export class Class {
  name = "class";
}
export async function late() {
  return (await import("./more.js")).two;
}
""",
    "b/more.js": "export const two = 3;",
    "vendor/good@1.0/good.js": "var a={says:'good'};export{a as default};",
    "vendor/good@1.0/x.js": "var b=8;export default b;\n",
    "vendor/good@1.0/y.js": "var c=9;export default c;",
    "vendor/other@1.0/other.js": "export{};",
}


def write(folder: Path, modules: dict[str, str]) -> None:
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_it_does_what_the_modules_do(tmp_path: Path) -> None:
    write(tmp_path, MODULES)
    script = bundled(tmp_path, "a/main.js", ["good"])
    assert "</script" not in script
    assert "<!--" not in script
    (tmp_path / "bundle.mjs").write_text(script, encoding="utf-8")
    run = node(str(tmp_path / "bundle.mjs"))
    assert run.stderr == ""
    told = [[1, 2, 3, "class", 3], "good", "none", [8, 9], 1, "</script><!--"]
    assert json.loads(run.stdout) == told


def test_it_is_the_same_every_time(tmp_path: Path) -> None:
    write(tmp_path, MODULES)
    assert bundled(tmp_path, "a/main.js", ["good"]) == bundled(tmp_path, "a/main.js", ["good"])


@pytest.mark.parametrize(
    "form", ['import all from "./b.js";', "export default 1;", "export let a;"]
)
def test_a_form_that_is_not_known_is_refused(tmp_path: Path, form: str) -> None:
    write(tmp_path, {"main.js": form, "b.js": ""})
    with pytest.raises(ValueError, match=r"main\.js has a form of import or export"):
        bundled(tmp_path, "main.js", [])


SERVED = {
    "js/main.js": """\
// The beginning.
import { told } from "./told.js";
import {
  where,
} from "./b/place.js";
import { late } from "./b/late.js";

told.push("main", where);
const [place, other] = await Promise.all([import("./b/place.js"), late()]);
await import("./c/after.js");
const line = new Error().stack.split(":").at(-2);
console.log(JSON.stringify([told, place.where === where, other.name, line]));
""",
    "js/told.js": 'export const told = [];\ntold.push("told");\n',
    "js/b/place.js": """\
import { told } from "../told.js";
told.push("place");
export const where = new URL("x.css", import.meta.url).pathname.split("/").slice(-3).join("/");
""",
    "js/b/late.js": 'export const late = () => import("./left.js");\n',
    "js/b/left.js": """\
import {
  told as seen,
} from "../told.js";
import "./lone.js";
export { where } from "./place.js";
export const name = seen.length;
""",
    "js/b/lone.js": 'import { told } from "../told.js";\ntold.push("lone");\n',
    "js/c/after.js": """\
import { told } from "../told.js";
export function after() {}
told.push("after");
""",
}


def test_modules_are_the_same_ones_in_the_page_s_file_and_out_of_it(tmp_path: Path) -> None:
    write(tmp_path / "in", SERVED)
    scripts = PageScripts(tmp_path / "in", ("js/main.js", "js/c/after.js"))
    write(tmp_path, {name: scripts.text(name) for name in (*SERVED, PageScripts.NAME)})
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run = node(str(tmp_path / "js/main.js"))
    assert run.stderr == ""
    told = ["told", "place", "main", "js/b/x.css", "lone", "after"]
    line = SERVED["js/main.js"].count("\n") - 1
    assert json.loads(run.stdout) == [told, True, 5, str(line)]
    bundle = scripts.text(PageScripts.NAME)
    assert "js/c/after.js" in bundle  # what else is needed at once
    assert "lone" not in bundle  # what is not


def test_what_is_no_module_of_the_page_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, SERVED)
    with pytest.raises(OSError, match=r"none\.js"):
        PageScripts(tmp_path, ("js/main.js",)).text("js/none.js")
