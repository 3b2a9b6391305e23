import { mock } from "node:test";

const MAJOR = Number.parseInt(process.versions.node, 10);

/** Has `setTimeout` wait for `mock.timers.tick`, from here to `mock.timers.reset`. */
export function holdTimeouts() {
  const apis = ["setTimeout"];
  mock.timers.enable(MAJOR < 20 ? apis : { apis });
}
