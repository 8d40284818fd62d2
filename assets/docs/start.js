// A file of its own: the page's Content-Security-Policy allows no script inside the page.
window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  displayOperationId: true,
  filter: true,
  // The viewer would otherwise send the document's address to a service on another site.
  validatorUrl: null,
});
