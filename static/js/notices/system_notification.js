// Shows a notification of the system: by the service worker where there is one, for a phone knows no
// other way. It keeps nothing of the page; see service-worker.js.

/** Lets the browser have the worker; it refuses where the person does not trust the certificate. */
export async function registerWorker() {
  try {
    await navigator.serviceWorker?.register("/service-worker.js");
  } catch (refusal) {
    console.info(`No service worker: ${refusal.message}`); // the page works without it
  }
}

/**
 * @param {string} title
 * @param {string} body
 */
export async function showNotification(title, body) {
  const options = { body, tag: "onefold", icon: "/static/icons/192.png", data: { path: location.pathname } };
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration?.active) return registration.showNotification(title, options);
  const shown = new Notification(title, options);
  shown.addEventListener("click", () => {
    window.focus();
    shown.close();
  });
}
