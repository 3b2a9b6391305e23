// The proof that this page is our own: a login hands it over, early.js puts it where only pages of
// this origin can read it, and no request bears it by itself, as it would a cookie.

import { remembered } from "../lib/storage.js";

/** Returns the key of the last login in this browser, "" where there is none. */
export const key = () => remembered("key") ?? globalThis.history?.state?.key ?? "";

/** The headers of a request that prove it. */
export const keyHeaders = () => (key() ? { "X-Onefold-Key": key() } : {});
