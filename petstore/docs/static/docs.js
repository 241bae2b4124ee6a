"use strict";

SwaggerUIBundle({
  dom_id: "#reference",
  url: document.getElementById("reference").dataset.description,
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});
