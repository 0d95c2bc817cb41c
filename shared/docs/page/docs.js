"use strict";

// Shows the document of the API that this file came from. Where that is, behind whatever stage or domain, is known from the file's own
// address: /api/docs/docs.js. So requests always go to the page's origin, whose cookies they carry and which its policy allows,
// also where the document names another server, as it does when APP_URL is not the address in the browser.
(() => {
  const here = document.currentScript.src;
  const service = new URL("../..", here).href.replace(/\/$/, "");

  const withServer = (text) => {
    try {
      return JSON.stringify({ ...JSON.parse(text), servers: [{ url: service }] });
    } catch {
      return text; // Swagger UI tells what is wrong with it
    }
  };

  const onOurTerms = ({ React }) => ({
    statePlugins: {
      spec: { wrapActions: { updateSpec: (original) => (text) => original(withServer(text)) } },
    },
    // A script can't set the session's cookie, only a login can: no dialog that asks for it, just a mark where it is needed.
    wrapComponents: {
      AuthorizeBtnContainer: () => () => null,
      authorizeOperationBtn: () => () =>
        React.createElement("span", { className: "needs-session", title: "Log in first" }, "session"),
    },
  });

  SwaggerUIBundle({
    dom_id: "#docs",
    url: new URL("../openapi.json", here).href,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [onOurTerms],
    layout: "BaseLayout",
    deepLinking: true,
    displayRequestDuration: true,
    filter: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    validatorUrl: null, // it would tell an outside service of every document
  });
})();
