// Search on pages that are read from a folder. Browsers start no worker from a file, so the script of the
// worker runs in a hidden frame instead, which has the part of a worker's interface that the search uses.
// It looks for this name in its parent window.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      this.inner = inner;
      inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      const load = (source) =>
        new Promise((done, fail) => {
          const script = inner.document.createElement("script");
          script.src = source;
          script.onload = done;
          script.onerror = () => fail(new Error(`${source} cannot be loaded`));
          inner.document.body.append(script);
        });
      inner.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.ready = load(url);
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  }
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
