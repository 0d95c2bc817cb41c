"use strict";

// Shows the OpenAPI document of the service that this file was loaded from. The base URL of the service, which may
// include a stage, is derived from the URL of this file: /api/docs/docs.js. Requests therefore always go to the page's
// origin, even if the document names another server because APP_URL differs from the address in the browser. Only
// requests to that origin include the session's cookie and are allowed by the page's policy.
(() => {
  const here = document.currentScript.src;
  const service = new URL("../..", here).href.replace(/\/$/, "");

  const withServer = (text) => {
    try {
      return JSON.stringify({ ...JSON.parse(text), servers: [{ url: service }] });
    } catch {
      return text; // Swagger UI reports the error
    }
  };

  const plugin = ({ React }) => ({
    statePlugins: {
      spec: { wrapActions: { updateSpec: (original) => (text) => original(withServer(text)) } },
    },
    // A script cannot set the session's cookie, so there is no dialog that asks for it. Operations that need a session
    // are marked.
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
    plugins: [plugin],
    layout: "BaseLayout",
    deepLinking: true,
    displayRequestDuration: true,
    filter: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    validatorUrl: null, // the validator would send the document to a third party
  });
})();
