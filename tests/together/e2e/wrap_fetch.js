  const send = fetch;
  window.fetch = (url, { headers }) => send(url, { headers: { ...headers,
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "X-Requested-With": "XMLHttpRequest" } });
